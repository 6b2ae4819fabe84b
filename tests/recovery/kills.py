"""Kill a process where it writes a record, go on with the run, and compare with a run that nobody
disturbed. Nothing of the process is patched.
"""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import struct
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from tests.recovery.scripts import MODEL, Part
from tests.recovery.world import Standing, World

KILLED = -signal.SIGKILL
REFUSED = 5

_HEAD = struct.Struct("iIII")
_CLOSE_WRITE, _MOVED_TO, _CREATE = 0x8, 0x80, 0x100
_FOLDER = 0x40000000


@dataclass(frozen=True)
class Boundary:
    """A file of this name was written for the n-th time, a command of git is called for the n-th
    time, or a question to the model came or was answered.
    """

    kind: Literal["file", "git before", "git after", "model before", "model after"]
    name: str
    number: int = 1


@dataclass(frozen=True)
class Undisturbed:
    """A part of a script as it goes when nobody is killed."""

    number: int
    part: Part
    standing: Standing
    asked: Counter[str]


class FileEvents:
    """Watches folders (inotify), and calls `then` when a file of this name was written for the
    n-th time.
    """

    def __init__(
        self, roots: tuple[Path, ...], name: str, number: int, then: Callable[[], None]
    ) -> None:
        self._roots, self._name, self._left, self._then = roots, os.fsencode(name), number, then
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._folders: dict[int, Path] = {}
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._queue = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self._bell, self._end = os.pipe()
        for root in self._roots:
            self._add(root)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.write(self._end, b"!")
        self._thread.join()
        for file in (self._queue, self._bell, self._end):
            os.close(file)

    def _add(self, folder: Path) -> None:
        for here, _, _ in os.walk(folder):
            mask = _CLOSE_WRITE | _MOVED_TO | _CREATE
            mark = self._libc.inotify_add_watch(self._queue, os.fsencode(here), mask)
            if mark >= 0:
                self._folders[mark] = Path(here)

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._queue, self._bell], [], [])
            if self._bell in ready:
                return
            with contextlib.suppress(BlockingIOError):
                self._take(os.read(self._queue, 65_536))

    def _take(self, data: bytes) -> None:
        place = 0
        while place < len(data):
            mark, mask, _, length = _HEAD.unpack_from(data, place)
            name = data[place + _HEAD.size : place + _HEAD.size + length].rstrip(b"\0")
            place += _HEAD.size + length
            folder = self._folders.get(mark)
            if mask & _FOLDER and mask & _CREATE and folder is not None:
                self._add(folder / os.fsdecode(name))
            elif name == self._name and mask & (_CLOSE_WRITE | _MOVED_TO):
                self._left -= 1
                if self._left == 0:
                    self._then()


_SHIM = """#!/bin/sh
# Kills forge-bot before or after one call of a command of git that it makes itself.
grep -q warm_python /proc/$PPID/cmdline || exec {git} "$@"
case " $* " in *" {name} "*) ;; *) exec {git} "$@" ;; esac
echo $$ >> {folder}/count
[ "$(wc -l < {folder}/count)" = {number} ] || exec {git} "$@"
[ {when} = before ] || {git} "$@"
kill -9 $PPID
exit 1
"""


def killing_git(folder: Path, boundary: Boundary) -> dict[str, str]:
    """Return the environment in which a process is killed at a call of git."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    when = boundary.kind.removeprefix("git ")
    shim = folder / "git"
    shim.write_text(
        _SHIM.format(
            git=shutil.which("git"),
            folder=folder,
            when=when,
            name=boundary.name,
            number=boundary.number,
        )
    )
    shim.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def killed_at(world: World, words: Sequence[str], boundary: Boundary | None) -> int:
    """Perform an invocation and kill it at the boundary; return its exit code."""
    process, started = list[int](), threading.Event()

    def end() -> None:
        started.wait()
        with contextlib.suppress(ProcessLookupError):
            os.kill(process[0], signal.SIGKILL)

    world.play.count("", 0, lambda: None)
    more: dict[str, str] = {}
    with ExitStack() as watched:
        if boundary is not None and boundary.kind == "file":
            roots = (world.path / ".git", world.state)
            watched.enter_context(FileEvents(roots, boundary.name, boundary.number, end))
        elif boundary is not None and boundary.kind.startswith("git"):
            more = killing_git(world.root / "shim", boundary)
        elif boundary is not None:
            world.play.count(boundary.kind.removeprefix("model "), boundary.number, end)
        process.append(world.start(words, more))
        started.set()
        return world.wait(process[0])


def undisturbed(world: World, script: Sequence[Part]) -> list[Undisturbed]:
    """Perform the script once; the world before each part is kept under its number."""
    parts: list[Undisturbed] = []
    for number, part in enumerate(script):
        world.save(str(number))
        world.play.fresh()
        code = world.wait(world.start(part.words))
        assert code == part.code, world.printed
        parts.append(Undisturbed(number, part, world.standing(), Counter(world.play.asked)))
    world.save("end")
    return parts


def survives(world: World, whole: Undisturbed, boundaries: Sequence[Boundary]) -> int:
    """Kill the part at the first boundary, each process that goes on with it at the next one, then
    let it end, and compare. Return how many of the boundaries were reached.
    """
    world.back(str(whole.number))
    world.play.fresh()
    words, reached, code = whole.part.words, 0, KILLED
    for boundary in (*boundaries, None):
        code = killed_at(world, words, boundary)
        if boundary is not None and code == KILLED:
            reached += 1
        elif boundary is None or code != KILLED:
            break
        words = _next_words(world, whole)
    over = code == REFUSED and "RUN-002" in world.printed
    assert over or code == whole.part.code, world.printed
    compare(world, whole)
    return reached


def _next_words(world: World, whole: Undisturbed) -> tuple[str, ...]:
    """What a person types after a kill: the same again if nothing of it was recorded, else
    `resume`.
    """
    recorded = bool(world.branch) and world.decisions >= whole.number
    return ("resume", *MODEL) if recorded else whole.part.words


def compare(world: World, whole: Undisturbed) -> None:
    """Hold what a run has brought about against the same without a disturbance."""
    now, then = world.standing(), whole.standing
    asked = Counter(world.play.asked)
    assert set(asked) == set(whole.asked), world.printed
    # Only questions that were under way at a kill may have been asked again.
    assert asked.total() - whole.asked.total() <= world.open_calls(), world.printed
    assert now == then
    assert world.contradictions() == []
    assert world.leftovers() == []
