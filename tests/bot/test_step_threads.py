"""Pipelines of steps in the issue thread, begun by a label or a command."""

import json
import sys

import pytest

from tests.bot.stage import Stage, heard
from tests.fakes.github import Issue
from tests.fakes.warm_python import warm_python

AUDIT = "forge:audit"


def broken(stage: Stage, text: str = "def (:\n") -> None:
    """A file on main that cannot be read whole."""
    files: dict[str, str | bytes | None] = {"rota/broken.py": text}
    stage.repo.bare.commit("main", files, "Break it", "ann <a@b.c>", stage.hub.clock.tick())


def asked(stage: Stage) -> str:
    """The question of an audit."""
    stage.label(AUDIT)
    stage.label()
    return stage.said("checkpoint")[-1]


def opened(stage: Stage) -> list[Issue]:
    """The issues that the bot opened."""
    return [
        issue
        for issue in stage.repo.issues.values()
        if issue.pull is None and issue.user and issue.user.login == "github-actions[bot]"
    ]


@pytest.mark.slow
def test_an_audit_goes_from_its_label_to_a_pull_request_without_a_model(stage: Stage) -> None:
    broken(stage)
    question = asked(stage)
    assert "is not read whole: line 1 cannot be parsed" in question
    stage.say("/approve")
    assert stage.state["currentPhaseStatus"] == "completed", stage.said()
    assert stage.state["usage"]["calls"] == 0
    (path,) = [name for name in stage.files() if name.startswith(".annotations/")]
    kept = json.loads(stage.files()[path])
    assert (kept["code"], kept["node"]) == ("SCAN-001", "rota/broken.py")


@pytest.mark.slow
def test_an_audit_opens_the_issues_that_were_approved_and_no_others(stage: Stage) -> None:
    broken(stage)
    question = asked(stage)
    assert "### SCAN-001: rota/broken.py is not read whole: line 1 cannot be parsed" in question
    assert opened(stage) == [], "before the approval"
    stage.say("/approve")
    (issue,) = opened(stage)
    assert issue.title == "SCAN-001: rota/broken.py is not read whole: line 1 cannot be parsed"
    assert "- [ ] `rota/broken.py:1`: is not read whole" in str(issue.body)
    assert f"Found by forge-bot in #{stage.issue.number}." in str(issue.body)
    assert issue.labels == [], "a label would begin a run"
    (said,) = [text for text in stage.said("reply") if "issues-opened" in text]
    assert f"/issues/{issue.number})" in said


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True], ids=["an answer is lost", "the job is killed"])
def test_no_issue_is_opened_twice(stage: Stage, *, killed: bool) -> None:
    broken(stage)
    broken_too = {"rota/other.py": "import rota.nothing\n"}
    stage.repo.bare.commit("main", {**broken_too}, "x", "ann <a@b.c>", stage.hub.clock.tick())
    asked(stage)
    if killed:
        stage.python = sys.executable
        stage.hub.faults.meanwhile(
            r"POST .*/issues$", lambda: stage.running and stage.running.kill()
        )
    else:
        stage.hub.faults.lost(r"POST .*/issues$", after=True)
    assert heard(stage.say("/approve")).code != 0
    assert len(opened(stage)) == 1
    stage.python = warm_python()
    stage.say("/forge status")
    assert stage.state["currentPhaseStatus"] == "completed", stage.said()
    assert sorted(issue.title[:8] for issue in opened(stage)) == ["SCAN-001", "SCAN-002"]
