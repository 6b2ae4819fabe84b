"""A run for each test, and the stage for whole ones."""

from pathlib import Path

import pytest

from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub
from tests.security.scene import Scene, begun


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return begun(tmp_path)


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path) -> Stage:
    return Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")
