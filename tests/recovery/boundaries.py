"""Where a process is killed: at its n-th call of git, change of a file, or question to a model.
Nothing of it is patched.
"""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

_HEAD = struct.Struct("iIII")
_MODIFY, _CLOSE_WRITE, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x8, 0x80, 0x100, 0x200
_COUNTED = _MODIFY | _CLOSE_WRITE | _MOVED_TO | _CREATE | _DELETE
_FOLDER = 0x40000000
_INSTALLED = "environment"


class FileEvents:
    """Counts what happens to files below some folders (inotify), and calls `then` at event number
    `at`; with `name`, at event number `at` of a file of this name. What setup installs is not
    counted one by one.
    """

    def __init__(
        self, roots: tuple[Path, ...], at: int, then: Callable[[], None], name: str = ""
    ) -> None:
        self.count = 0
        self._at = at
        self._name = os.fsencode(name)
        self._named = 0
        self._then = then
        self._roots = roots
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._folders: dict[int, Path] = {}
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._queue = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self._bell, self._end = os.pipe()
        for root in self._roots:
            root.mkdir(parents=True, exist_ok=True)
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
        for here, below, _ in os.walk(folder):
            if Path(here).name == _INSTALLED:
                below.clear()
            mark = self._libc.inotify_add_watch(self._queue, os.fsencode(here), _COUNTED)
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
            if mask & _FOLDER and mask & _CREATE and folder and folder.name != _INSTALLED:
                self._add(folder / os.fsdecode(name))
            self.count += 1
            self._named += name == self._name
            if self._at == (self._named if self._name else self.count):
                self._then()


_SHIM = """#!/bin/sh
# Counts the calls of git that forge-bot itself makes, and kills it before or after one of them.
read pid < {folder}/pid
[ "$PPID" = "$pid" ] || exec {git} "$@"
echo $$ >> {folder}/count
# Two calls at once each have a line, and a number, of their own.
n=0
while read -r each; do n=$((n + 1)); [ "$each" = $$ ] && break; done < {folder}/count
[ "before $n" = "{at}" ] && {{ kill -9 $PPID; exit 1; }}
[ "after $n" = "{at}" ] || exec {git} "$@"
{git} "$@"
kill -9 $PPID
"""


class GitCalls:
    """A folder with a `git` that counts its calls in one process, and kills that process before or
    after call number `at`.
    """

    def __init__(self, folder: Path, when: str, at: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._count = folder / "count"
        self._count.touch()
        shim = folder / "git"
        shim.write_text(_SHIM.format(folder=folder, git=shutil.which("git"), at=f"{when} {at}"))
        shim.chmod(0o755)
        self.environment = {
            "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
            "NURSERY_PID": str(folder / "pid"),
        }

    @property
    def count(self) -> int:
        """How many calls there were."""
        return len(self._count.read_bytes().splitlines())


def kill(pid: int) -> None:
    """SIGKILL, to this process alone: what it started goes on."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kill_with_all(pid: int) -> None:
    """SIGKILL to a process and everything below it, as when a machine loses its power."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    for each in (*below(pid), pid):
        kill(each)


def below(pid: int) -> list[int]:
    """All processes that a process started, and those started by them."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int(
                    (entry / "stat")
                    .read_text(encoding="utf-8", errors="replace")
                    .rpartition(")")[2]
                    .split()[1]
                )
                parents.setdefault(parent, []).append(int(entry.name))
    found, left = list[int](), [pid]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found
