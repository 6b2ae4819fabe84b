"""Every backend that works on this machine, and a project to run commands in."""

from pathlib import Path

import pytest

from forge_bot.sandbox.backends import failure_reason, run
from forge_bot.sandbox.box import BackendName, Box, CommandOutcome
from tests.sandbox.scene import Attempt, project

TROUBLES = {name: failure_reason(name) for name in BackendName}


def _every(*names: BackendName) -> list[object]:
    skips = {
        name: [pytest.mark.skip(reason=f"{name}: {TROUBLES[name]}")] if TROUBLES[name] else []
        for name in names
    }
    return [pytest.param(name, marks=skips[name], id=str(name)) for name in names]


@pytest.fixture(params=_every(*BackendName))
def backend(request: pytest.FixtureRequest) -> BackendName:
    """Every backend that works here, `off` included."""
    return request.param


@pytest.fixture(params=_every(BackendName.BUBBLEWRAP, BackendName.LANDLOCK))
def walled(request: pytest.FixtureRequest) -> BackendName:
    """The backends with walls."""
    return request.param


@pytest.fixture
def chosen() -> BackendName:
    """The one that a run would take here; for what is the same in all of them."""
    return next(name for name, trouble in TROUBLES.items() if not trouble)


@pytest.fixture(params=_every(BackendName.BUBBLEWRAP))
def bubblewrap(request: pytest.FixtureRequest) -> BackendName:
    """The first choice alone."""
    return request.param


@pytest.fixture(params=_every(BackendName.LANDLOCK))
def landlock(request: pytest.FixtureRequest) -> BackendName:
    """The second choice alone."""
    return request.param


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A repository with one commit, a source folder, a workflow and a spec."""
    return project(tmp_path / "project")


@pytest.fixture
def attempt(worktree: Path) -> Attempt:
    """Run some Python in a box around the work tree; names given as `env` are its declared
    variables.
    """

    def go(backend: BackendName, code: str, **box: object) -> CommandOutcome:
        return run(
            backend, Box.model_validate({"worktree": worktree, **box}), ["python3", "-c", code]
        )

    return go
