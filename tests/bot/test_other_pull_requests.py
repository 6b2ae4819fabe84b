"""Pull requests that people opened: one from the branch of a run is the run's, others are told so."""

import pytest

from tests.bot.stage import Stage, heard


@pytest.mark.slow
def test_a_pull_request_from_a_fork_is_none_of_the_run_whatever_its_branch_and_files_are(
    waiting: Stage,
) -> None:
    fork = waiting.hub.fork(waiting.repo, "stranger")
    branches = (waiting.branch, waiting.branch.replace("feature/", "fix/"))
    workflow = {".github/workflows/forge-bot.yml": "on: issue_comment\n"}
    for branch in branches:
        waiting.hub.commit(fork, branch, workflow)
        pull = waiting.hub.pull(waiting.repo, branch, by="stranger", title="Mine", fork=fork)
        for word in ("/approve", "/forge status", "/forge"):
            assert heard(waiting.say(word, issue=pull)).result == "nothing"
            assert heard(waiting.say(word, issue=pull, by="stranger")).result == "refused"
        assert waiting.said(on=pull) == []
    assert waiting.state["decisions"] == []
    assert heard(waiting.say("/approve")).outcome == "done"
    pulls = [each for each in waiting.repo.issues.values() if each.pull is not None]
    assert [each.user and each.user.login for each in pulls] == [
        "stranger",
        "stranger",
        "github-actions[bot]",
    ]
    assert waiting.state["pullRequest"].endswith(f"/pull/{pulls[-1].number}")


@pytest.mark.slow
def test_a_pull_request_that_a_person_opened_for_the_bot_takes_commands_and_has_its_checks_mended(
    waiting: Stage,
) -> None:
    waiting.repo.actions_may_open_pulls = False
    assert heard(waiting.say("/approve")).outcome == "done"
    assert len(waiting.said("reply occasion=pull-request-by-hand")) == 1
    pull = waiting.hub.pull(waiting.repo, waiting.offered, by="maint", title="Opened by hand")
    assert pull.body == ""
    assert heard(waiting.say("/forge status", issue=pull)).code == 0
    assert len(waiting.said("reply occasion=status", on=pull)) == 1
    waiting.check("test", "failure", "FAILED tests/test_who.py")
    job = heard(waiting.say("/forge retry", issue=pull))
    assert job.code == 0, job.log
    assert len(waiting.said("reply occasion=follow-up", on=pull)) == 1
    assert waiting.state["currentPhaseStatus"] == "completed"
    assert waiting.state["pullRequest"] == f"{waiting.hub.url}/acme/widget/pull/{pull.number}"
    assert pull.title == "Opened by hand"
