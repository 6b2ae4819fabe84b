"""A run where GitHub is an Enterprise Server: its API lies under /api/v3, and GraphQL beside that.

https://docs.github.com/en/enterprise-server@latest/rest/using-the-rest-api/getting-started-with-the-rest-api
"""

import re

import pytest

from tests.bot.stage import Stage, heard


@pytest.mark.slow
def test_a_whole_run_asks_the_server_only_and_leads_people_to_no_other_host(stage: Stage) -> None:
    stage.environ["GITHUB_API_URL"] = f"{stage.hub.url}/api/v3"
    stage.hub.edit_issue(stage.issue, by="stranger", body="Another text.")
    stage.say("/forge", lost=True)
    assert heard(stage.say("/forge status")).outcome == "waiting"
    assert stage.hub.url in stage.said("tracking")[0]
    job = heard(stage.say("/approve"))
    assert (job.code, job.outcome) == (0, "done"), job.log
    assert "/api/graphql" in {each.path for each in stage.hub.exchanges}, (
        "when was the issue edited?"
    )
    for text in (*stage.said(), stage.pull.body or "", job.summary):
        hosts = set(re.findall(r"https?://([\w.:-]+)", text))
        assert hosts <= {stage.hub.url.removeprefix("http://")}
