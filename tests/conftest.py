"""What many tests stand on."""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from pytest_recording.network import block
from xdist.scheduler import LoadFileScheduling

from forge_bot.cli.app import run
from tests.fakes.kept_samples import KeptSamples, made
from tests.fakes.sample import Said, Sample, by_script
from tests.fakes.warm_python import warm_python

if TYPE_CHECKING:
    from xdist.remote import Producer

    from tests.bot.kept import Kept
    from tests.bot.stage import Stage
    from tests.fakes.finished import Demo
    from tests.fakes.github import FakeGitHub


# Tests commit as nobody of this machine, and its person's settings of git do not count.
os.environ["GIT_CONFIG_GLOBAL"] = str(Path(__file__).parent / "fakes" / "gitconfig")

# They start hundreds of short processes: where compiled modules are not kept, each of them compiles
# all it imports anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

_IN_MEMORY = Path("/dev/shm")
_NEEDED = 4 << 30


def _is_roomy(folder: Path) -> bool:
    """Return whether programs can be started in a folder that has room for all tests."""
    if not os.access(folder, os.W_OK):
        return False
    system = os.statvfs(folder)
    return not system.f_flag & os.ST_NOEXEC and system.f_bavail * system.f_frsize >= _NEEDED


# Tests make and remove some hundred thousand files, and wait for a disk at each commit. Workers get
# the folder from who starts them.
if "PYTEST_DEBUG_TEMPROOT" not in os.environ and _is_roomy(_IN_MEMORY):
    os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.mkdtemp(prefix="forge-bot-", dir=_IN_MEMORY)
    atexit.register(shutil.rmtree, os.environ["PYTEST_DEBUG_TEMPROOT"], ignore_errors=True)

# A busy machine is no fault of an example, so no time counts.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=25
)
settings.load_profile("untimed")


_RECORDING = {
    "block_network",
    "disable_recording",
    "record_mode",
    "vcr",
    "vcr_cassette_dir",
    "vcr_markers",
}
"""The fixtures that pytest-recording gives to every test."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the fixtures of pytest-recording to tests that need them. The files outside of rooms,
    some of which take long, are first, so that the workers end together.
    """
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)
    for item in items:
        if isinstance(item, pytest.Function) and not _recorded(item):
            item.fixturenames = [name for name in item.fixturenames if name not in _RECORDING]


def _recorded(item: pytest.Item) -> bool:
    """Return whether exchanges on disk answer a test, or the test says itself what it may reach."""
    return any(map(item.get_closest_marker, ("vcr", "block_network")))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Block the network for a test and its fixtures, as pytest-recording does for those that are
    recorded: its fixtures take as long as a short test.
    """
    if item.config.getoption("block_network"):
        block(allowed_hosts=str(item.config.getoption("allowed_hosts")).split(","))


def pytest_collection_finish() -> None:
    """Look for garbage seldom: nearly all that was collected stays to the end."""
    gc.freeze()
    gc.set_threshold(100_000)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> LoadFileScheduling:
    """Let the tests of a file, which share what they stand on, run in one worker, in the order in
    which they were collected: the number of tests says nothing of how long they take.
    """
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """The folder of a test. Tests of walls have theirs on the disk: what is in shared memory
    Landlock shows to all.
    """
    walls = request.path.parent.name == "sandbox" or "landlock" in request.node.name
    if not (walls and tmp_path.is_relative_to(_IN_MEMORY)):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def played_demo(tmp_path_factory: pytest.TempPathFactory) -> "Demo":
    """The demo, played once for all tests that look at it; none changes its repository."""
    from tests.fakes.finished import demo

    return demo(tmp_path_factory.mktemp("played"), warm_python())


@pytest.fixture
def github(tmp_path: Path) -> "Iterator[FakeGitHub]":
    """A GitHub on loopback. The test fails when an exchange with it did not fit GitHub's own
    description.
    """
    # The checkers take half a second to import; tests without GitHub do not pay for it.
    from tests.fakes.github import FakeGitHub

    with FakeGitHub(tmp_path / "github") as hub:
        yield hub
    assert hub.findings == []


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Kept]":
    """A run in a thread that a label has led to its first question, once for all tests that begin
    there.
    """
    from tests.bot.kept import Kept
    from tests.bot.stage import Stage
    from tests.fakes.github import FakeGitHub

    folder = tmp_path_factory.mktemp("kept")
    with FakeGitHub(folder / "github") as hub:
        stage = Stage(hub, folder / "jobs", folder / "script.jsonl")
        began = stage.label()
        assert (began.result, began.code, hub.findings) == ("proceed", 0, []), began.log
        yield Kept(stage, (began,))


@pytest.fixture(scope="session")
def over(kept: "Kept", tmp_path_factory: pytest.TempPathFactory) -> "Kept":
    """The same run after its approval: its pull request is open."""
    from tests.bot.kept import Kept
    from tests.bot.stage import heard

    stage = kept.again(tmp_path_factory.mktemp("over"))
    done = heard(stage.say("/approve"))
    assert (done.code, stage.hub.findings) == (0, []), done.log
    return Kept(stage, (*kept.jobs, done))


@pytest.fixture
def waiting(kept: "Kept", tmp_path: Path) -> "Iterator[Stage]":
    """A run in a thread that has asked its first question."""
    stage = kept.again(tmp_path)
    yield stage
    assert stage.hub.findings == []


@pytest.fixture
def sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sample:
    """The sample repository, with its own state folder and no terminal."""
    made(tmp_path / "rota")
    return _sample(tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="session")
def kept_samples(tmp_path_factory: pytest.TempPathFactory) -> KeptSamples:
    return KeptSamples(tmp_path_factory.mktemp("samples"))


@pytest.fixture
def asked_sample(
    kept_samples: KeptSamples, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sample:
    """The sample repository with a small run that has asked its first question."""
    return _sample(kept_samples.again(3, "--effort", "S"), monkeypatch, capsys)


@pytest.fixture
def accepted_sample(
    kept_samples: KeptSamples, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sample:
    """The sample repository with a small run that stopped after its task was accepted, before it is
    verified.
    """
    return _sample(kept_samples.accepted(), monkeypatch, capsys)


@pytest.fixture
def clients_sample(
    kept_samples: KeptSamples, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sample:
    """The sample repository with a small run that a client has led to its first question."""
    return _sample(kept_samples.led_by_client("S"), monkeypatch, capsys)


@pytest.fixture
def clients_medium_sample(
    kept_samples: KeptSamples, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sample:
    """The same with a run of effort M."""
    return _sample(kept_samples.led_by_client("M"), monkeypatch, capsys)


@pytest.fixture
def clients_approved_sample(
    kept_samples: KeptSamples, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sample:
    """The sample repository with a small run of a client whose design was approved: the implementer
    is asked.
    """
    return _sample(kept_samples.led_by_client("S", "implementer"), monkeypatch, capsys)


@pytest.fixture
def ended_sample(
    kept_samples: KeptSamples, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sample:
    """The sample repository with a small run that is over, and that asked nobody."""
    return _sample(kept_samples.again(0, "--effort", "S", "--auto"), monkeypatch, capsys)


def _sample(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sample:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("FORGE_BOT_MODEL", raising=False)
    monkeypatch.chdir(folder / "rota")

    def forge(*words: str) -> Said:
        capsys.readouterr()
        code = run([*words, *by_script(words)])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return Sample(folder / "rota", forge, folder / "script.jsonl")
