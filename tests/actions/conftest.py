"""Repositories that use what is shipped."""

from pathlib import Path

import pytest

from tests.actions.runner import ACTION, STUBS, Runner, consumer, pins, shipped
from tests.fakes.github import FakeGitHub

WORKFLOWS = ".github/workflows"


@pytest.fixture(scope="session")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped files, once for all tests: nobody writes there."""
    return shipped(tmp_path_factory.mktemp("action"))


def passing(runner: Runner) -> Runner:
    """The sample repository without the tests that wait for its next feature: all others pass."""
    runner.hub.commit(runner.repo, "main", {"tests/test_next.py": None})
    return runner


@pytest.fixture
def runner(github: FakeGitHub, tmp_path: Path, action: Path) -> Runner:
    """A repository that uses the action as `init` writes it."""
    runner = Runner(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    runner.files_here = {f"{WORKFLOWS}/forge-bot.yml": consumer()}
    runner.uses = {ACTION: action}
    return passing(runner)


@pytest.fixture
def parted(github: FakeGitHub, tmp_path: Path, action: Path) -> Runner:
    """A repository that uses the workflow with the wall, as this one does for itself."""
    runner = Runner(github, tmp_path / "jobs", tmp_path / "script.jsonl")
    wall, own = (
        (action / WORKFLOWS / name).read_text(encoding="utf-8")
        for name in ("forge-bot.yml", "forge.yml")
    )
    runner.files_here = {f"{WORKFLOWS}/forge-bot.yml": wall, f"{WORKFLOWS}/forge.yml": own}
    runner.called = "forge.yml"
    found = pins(wall)
    names = {
        "actions/checkout": "checkout",
        "actions/upload-artifact": "upload",
        "actions/download-artifact": "download",
        "actions/cache/restore": "cache",
    }
    whole = {name: found[name].replace("/restore@", "@") for name in names}
    runner.uses = {whole[name]: STUBS / stub for name, stub in names.items()}
    runner.variables = {"SHIPPED": str(action)}
    return passing(runner)
