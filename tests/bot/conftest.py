"""The stage that whole runs are played on."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot.kept import Kept
from tests.bot.parted import Parted
from tests.bot.stage import Stage, heard
from tests.fakes.github import FakeGitHub
from tests.fakes.signing_keys import signing_key


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path) -> Stage:
    return Stage(github, tmp_path / "jobs", tmp_path / "script.jsonl")


@pytest.fixture(scope="session")
def walled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """A run whose pull request is open, as jobs of their own led it there. Those that write have a
    key that signs, where this machine can make one.
    """
    folder = tmp_path_factory.mktemp("walled")
    with FakeGitHub(folder / "github") as hub:
        stage = Parted(hub, folder / "jobs", folder / "script.jsonl")
        if shutil.which("ssh-keygen") is not None:
            stage.environ["FORGE_BOT_SIGNING_KEY"] = signing_key(folder / "keys").read_text()
        jobs = (stage.label(), heard(stage.say("/approve")))
        assert ([job.code for job in jobs], hub.findings) == ([0, 0], []), jobs[-1].log
        yield Kept(stage, jobs)


@pytest.fixture(
    params=[
        pytest.param("over", id="one job"),
        pytest.param("walled", id="separate jobs"),
    ]
)
def landed(request: pytest.FixtureRequest) -> Kept:
    """A run whose pull request is open, as one job led it there, and as separate ones did."""
    return request.getfixturevalue(request.param)
