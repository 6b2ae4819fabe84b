"""Compiled code that a runner keeps between jobs, in its tool cache."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import cache_from_source, source_from_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.actions.runner import missing, program_path, uv_cache

pytestmark = [pytest.mark.skipif(bool(missing()), reason=missing()), pytest.mark.xdist_group("act")]


@dataclass
class Machine:
    """A runner that takes one job after the other: each has the action and its folder anew, at the
    same places.
    """

    origin: Path
    folder: Path
    tools: str

    @property
    def own(self) -> Path:
        return self.folder / "action" / "forge_bot"

    def install(self, *changed: str) -> None:
        """A job's installation; the files that are named are newer than those of the job before."""
        for name in ("action", "temp"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.origin, self.folder / "action")
        for name in changed:
            os.utime(self.own / name, (1_900_000_000, 1_900_000_000))
        environ = {
            "PATH": program_path(),
            "FORGE_BOT_PYTHON": sys.executable,
            "RUNNER_TEMP": str(self.folder / "temp"),
            "RUNNER_TOOL_CACHE": self.tools,
            "HOME": str(self.folder),
            "UV_CACHE_DIR": uv_cache(),
            "UV_OFFLINE": "1",
        }
        # As a part of this shell the script's own processes can be waited for.
        script = str(self.own.parent / "scripts" / "action" / "install")
        subprocess.run(["bash", "-c", '. "$0"; wait', script], env=environ, check=True)

    def compiled(self) -> dict[str, Path]:
        """The kept files of forge-bot itself, by their sources."""
        found = Path(self.tools).glob(f"forge-bot/compiled/*{self.own}/**/*.pyc")
        return {str(path).partition(str(self.own))[2].partition(".")[0][1:]: path for path in found}

    def supervise(self) -> None:
        """What a job does first: read the supervisor. It has no event, and ends."""
        environ = {"RUNNER_TEMP": str(self.folder / "temp"), "PATH": program_path()}
        part = str(self.own.parent / "scripts" / "action" / "part")
        ended = subprocess.run([part], env=environ, check=False, capture_output=True, text=True)
        assert "GITHUB_" in ended.stdout + ended.stderr


@pytest.fixture
def machine(action: Path, pytestconfig: pytest.Config) -> Iterator[Machine]:
    """A machine whose files lie beside uv's cache: what is copied from another file system instead
    of linked has new times with each installation, and is compiled anew.
    """
    assert pytestconfig.cache is not None
    with TemporaryDirectory(dir=pytestconfig.cache.mkdir("machines")) as folder:
        yield Machine(action, Path(folder), str(Path(folder, "tools")))


def test_the_second_job_of_a_runner_compiles_nothing_and_a_newer_action_all_of_it(
    machine: Machine,
) -> None:
    machine.install()
    first = machine.compiled()
    assert set(first) == {
        str(path.relative_to(machine.own).with_suffix("")) for path in machine.own.rglob("*.py")
    }
    assert not [*machine.own.rglob("*.pyc")]
    written = {name: path.stat().st_mtime_ns for name, path in first.items()}
    gone = first["runs/leftovers"]
    gone.unlink()

    machine.install()
    assert not gone.exists(), "it was compiled ahead once more"
    machine.supervise()
    assert {name: path.stat().st_mtime_ns for name, path in first.items() if path != gone} == {
        name: time for name, time in written.items() if first[name] != gone
    }

    machine.install("__init__.py")
    assert gone.exists()


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param("/proc/tools", id="read-only"),
        pytest.param("", id="none"),
    ],
)
@pytest.mark.thorough
def test_without_a_tool_cache_that_can_be_written_what_the_first_processes_import_is_compiled_in_place(
    machine: Machine, tools: str
) -> None:
    machine.tools = tools
    machine.install()
    compiled = {Path(source_from_cache(str(path))) for path in machine.own.rglob("*.pyc")}
    assert compiled == {*machine.own.rglob("*.py")}
    venv = machine.folder / "temp" / "forge-bot" / "venv"
    libraries = next((venv / "lib").glob("*/site-packages"))
    for name in ("github/Requester.py", "pydantic_ai/direct.py"):
        assert Path(cache_from_source(str(libraries / name))).is_file(), name
    machine.supervise()


def test_a_worker_uses_the_compiled_code_of_its_supervisor(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from forge_bot.bot.supervised_worker import WorkerProcess;"
        "worker = WorkerProcess(Path(sys.argv[1]), ('none',), {}); [*worker.messages()];"
        "worker.stopped()"
    )
    kept = tmp_path / "kept"
    words = (sys.executable, "-X", f"pycache_prefix={kept}", "-c", program, str(tmp_path))
    subprocess.run(words, check=True, capture_output=True)
    assert [*kept.rglob("local_host*.pyc")]
