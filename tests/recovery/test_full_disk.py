"""A disk that runs full: the error says so and says where, nothing is damaged, and with room again
the run goes on to its end.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes import script
from tests.fakes.sample import Sample
from tests.recovery.conftest import Told
from tests.recovery.scripts import MODEL, SHORT, answers
from tests.recovery.world import World

_SIZE = 240 << 20
"""Bytes: as much as a run wants to see before it begins, and a little more."""
_INSIDE = "FORGE_TEST_IN_NAMESPACE"


@dataclass(frozen=True)
class Disk:
    """A file system of its own, mounted at a folder."""

    folder: Path

    def fill(self, left: int = 0) -> None:
        """Use up all its room but some bytes."""
        with self.filler.open("wb", buffering=0) as file:
            room = os.statvfs(self.folder).f_bavail * os.statvfs(self.folder).f_frsize - left
            os.posix_fallocate(file.fileno(), 0, max(room, 1))

    def empty(self) -> None:
        """Make room again."""
        self.filler.unlink()

    @property
    def filler(self) -> Path:
        """The file that takes the room."""
        return self.folder / ".filler"


@pytest.fixture
def small_disk() -> Iterator[Callable[[Path], Disk]]:
    with ExitStack() as mounted:

        def made(folder: Path) -> Disk:
            folder.mkdir(exist_ok=True)
            command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
            mounted.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
            return Disk(folder)

        yield made


def begun(world: World) -> None:
    """Build the world on the disks that are mounted, and bring the run to its question."""
    world.build()
    world.git("config", "core.excludesFile", str(world.root / "ignored"))
    (world.root / "ignored").write_text(".filler\n")
    assert world.forge(*SHORT[0].words)[0] == 3, world.printed
    world.play.fresh()


def is_told(world: World, folder: Path) -> bool:
    """Whether the next invocation fails for want of room; then it says so, and what is to be
    done.
    """
    code, said = world.forge("resume" if world.decisions else "approve", *MODEL)
    if code == 0:
        return False
    # Before anything is done, the check of the machine sees it; later, whoever writes.
    assert (code == 1 and "STATE-006" in said) or (code == 5 and "PREFLIGHT-001" in said), said
    assert "Make room" in said
    assert str(folder) in said
    assert "Traceback" not in said
    return True


def ends_the_same(world: World, told: Told, *, again: int) -> None:
    """With room again the run ends like one that was never disturbed, and at most so many questions
    were asked again.
    """
    code = world.to_the_end(answers(SHORT))
    assert code == 0 or "RUN-002" in world.printed, world.printed
    now, whole = world.standing(), told[1][-1]
    assert now.code == whole.standing.code
    assert [(each["type"], each.get("artifact")) for each in now.reports] == [
        (each["type"], each.get("artifact")) for each in whole.standing.reports
    ]
    assert now.artifacts.keys() == whole.standing.artifacts.keys()
    assert world.leftovers() == []
    assert world.play.asked.total() <= whole.asked.total() + again


def filled(blank: World, disk: Disk, question: int, left: int) -> None:
    """Fill the disk now, or when question number `question` has gone out."""
    begun(blank)
    if question:
        blank.play.count("before", question, lambda: disk.fill(left))
    else:
        disk.fill(left)


def room_again(world: World, disk: Disk) -> None:
    world.play.count("", 0, lambda: None)
    disk.empty()


@pytest.mark.parametrize(
    ("place", "question"),
    [
        ("state", 1),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("state", 0), ("rota", 1))),
    ],
)
def test_a_full_disk_is_told_and_with_room_again_the_run_ends_the_same(
    short: Told, blank: World, small_disk: Callable[[Path], Disk], place: str, question: int
) -> None:
    disk = small_disk(blank.root / place)
    filled(blank, disk, question, 0)
    assert is_told(blank, disk.folder)
    assert is_told(blank, disk.folder)
    room_again(blank, disk)
    ends_the_same(blank, short, again=question)


FILLS = """
import os
import unittest


class Fills(unittest.TestCase):
    def test_it_writes_without_end(self):
        if os.path.exists("tests/test_before.py"):
            with open("filling", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
"""


def test_a_change_whose_own_tests_fill_the_disk_is_told_as_that_and_can_be_made_anew(
    sample: Sample, small_disk: Callable[[Path], Disk]
) -> None:
    small_disk(sample.path.parent / "state")
    (sample.path / "tests" / "test_fills.py").write_text(FILLS)
    sample.git("add", "-A")
    sample.git("commit", "-qm", "fills")
    words = ("run", "Nobody before the start", "--effort", "S", "--model", sample.model())
    assert sample.forge(*words).code == 3
    for command in ("approve", "resume"):
        said = sample.forge(command, "--model", sample.model())
        assert (said.code, "STATE-006" in said.err) == (1, True), said
        assert "the command itself has filled the disk" in said.err
    elsewhere = {**script.TEST, "path": "tests/test_start.py"}
    model = sample.model({("implementer", "*", "*"): script.change(script.GUARD, elsewhere)})
    said = sample.forge("retry", "implementation", "--model", model)
    assert said.code == 0, said


@pytest.mark.slow
def test_a_full_folder_for_temporary_files_is_told_and_the_next_invocation_takes_another(
    short: Told, blank: World, small_disk: Callable[[Path], Disk]
) -> None:
    disk = small_disk(blank.root / "temporary")
    blank.extra["TMPDIR"] = str(disk.folder)
    filled(blank, disk, 1, 0)
    assert is_told(blank, disk.folder)
    ends_the_same(blank, short, again=1)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["state", "rota", "temporary"])
@pytest.mark.parametrize("question", [1, 3])
@pytest.mark.parametrize("left", [0, 6_000, 20_000, 60_000])
def test_wherever_the_room_ends_the_run_is_told_of_or_comes_to_its_end(
    short: Told,
    blank: World,
    small_disk: Callable[[Path], Disk],
    place: str,
    question: int,
    left: int,
) -> None:
    disk = small_disk(blank.root / place)
    if place == "temporary":
        blank.extra["TMPDIR"] = str(disk.folder)
    filled(blank, disk, question, left)
    if is_told(blank, disk.folder):
        is_told(blank, disk.folder)
    room_again(blank, disk)
    ends_the_same(blank, short, again=1)


@pytest.mark.skipif(
    os.geteuid() == 0 or _INSIDE in os.environ,
    reason="small disks can be mounted without a namespace",
)
def test_all_of_this_holds_in_a_namespace_where_anybody_may_mount() -> None:
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("neither root nor user namespaces: no small disk can be mounted")
    command = [
        "unshare",
        "-rm",
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow",
        "-k",
        "with_room_again",
        __file__,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, _INSIDE: "1"}
    )
    assert done.returncode == 0, done.stdout
