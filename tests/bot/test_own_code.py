"""The worker is our code, whatever the repository that it works on calls its files."""

from pathlib import Path

import pytest

from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path) -> Stage:
    return Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")


@pytest.mark.promise("bot-own-code")
def test_files_that_are_called_like_our_libraries_are_not_imported(stage: Stage) -> None:
    stop = "raise SystemExit('imported')\n"
    stage.hub.commit(stage.repo, "main", {"yaml.py": stop, "pydantic/__init__.py": stop, "forge_bot/__init__.py": stop})
    job = stage.label()
    assert job.code == 0, job.log
    assert stage.state["currentPhaseStatus"] == "awaiting_human"
