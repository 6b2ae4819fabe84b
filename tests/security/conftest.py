"""A run for each test, the stage for whole ones, and a sandbox."""

from pathlib import Path

import pytest

from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from tests.bot.stage import Stage
from tests.fakes.github import FakeGitHub
from tests.security.project_scene import WALLS
from tests.security.scene import Scene, begun


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return begun(tmp_path)


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path) -> Stage:
    return Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")


@pytest.fixture(params=WALLS)
def wall(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A sandbox that works here, and a place of its own for what commands leave."""
    if trouble := failure_reason(BackendName(request.param)):
        pytest.skip(trouble)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return str(request.param)
