"""A drafted change in a thread: shown with the design, applied after the yes, in one job and in
separate ones.
"""

from pathlib import Path

import pytest

from tests.bot.parted import Parted
from tests.bot.stage import Stage, heard
from tests.fakes.github import FakeGitHub
from tests.runs.test_drafts import APPROVED, drafted
from tests.runs.test_next_document import ANALYST


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Stage, Parted], ids=["one job", "separate jobs"])
def test_a_yes_in_the_thread_applies_the_draft_and_asks_no_model(
    github: FakeGitHub, tmp_path: Path, kind: type[Stage]
) -> None:
    stage = kind(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    stage.model({(ANALYST, "*", "*"): drafted(), ("design-reviewer", "*", "*"): APPROVED})
    heard(stage.say("/forge --effort S"))
    question = stage.said("checkpoint")[-1]
    assert "`draft.patch`" in question
    assert "if day < self.start:" in question
    heard(stage.say("/approve"))
    assert stage.state["usage"]["calls"] == 2
    assert "day < self.start" in stage.files()["rota/schedule.py"]
