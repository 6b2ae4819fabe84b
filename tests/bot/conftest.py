"""The stage that whole runs are played on."""

from pathlib import Path

import pytest

from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path) -> Stage:
    return Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")
