"""A run where GitHub is an Enterprise Server: its API lies under /api/v3.

https://docs.github.com/en/enterprise-server@latest/rest/using-the-rest-api/getting-started-with-the-rest-api
"""

import re

import pytest

from tests.bot.stage import Stage, heard


@pytest.mark.slow
def test_a_whole_run_asks_the_server_only_and_leads_people_to_no_other_host(stage: Stage) -> None:
    stage.environ["GITHUB_API_URL"] = f"{stage.hub.url}/api/v3"
    stage.say("/forge", lost=True)
    assert heard(stage.say("/forge status")).outcome == "waiting"
    assert stage.hub.url in stage.said("tracking")[0]
    job = heard(stage.say("/approve"))
    assert (job.code, job.outcome) == (0, "done"), job.log
    for text in (*stage.said(), stage.pull.body or "", job.summary):
        hosts = set(re.findall(r"https?://([\w.:-]+)", text))
        assert hosts <= {stage.hub.url.removeprefix("http://")}
