"""A run in a thread that finds nothing to do tells so kindly, and opens no pull request."""

from pathlib import Path

import pytest

from tests.bot.stage import Stage, heard
from tests.cli.test_nothing_to_do import ANALYST, analysis
from tests.fakes.github import FakeGitHub


@pytest.mark.slow
def test_the_issue_is_told_with_the_evidence_and_no_pull_request_is_opened(
    github: FakeGitHub, tmp_path: Path
) -> None:
    stage = Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    stage.model({(ANALYST, "*", "*"): analysis("already works", "`rota/cli.py` says so today.")})
    asked = stage.label()
    assert (asked.result, asked.code) == ("proceed", 0), asked.log
    question = stage.issue.comments[-1].body
    assert "nothing is to be done" in question
    assert "`rota/cli.py` says so today." in question
    done = heard(stage.say("/approve"))
    assert done.code == 0, done.log
    told = stage.issue.comments[0].body
    assert "Done: there is nothing to do." in told
    assert "This already works as asked" in told
    assert "`rota/cli.py` says so today." in told
    assert "Thank you for the request." in told
    assert all(issue.pull is None for issue in stage.repo.issues.values())
