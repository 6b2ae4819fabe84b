"""The permissions of a command (Box, ResourceLimits), the backends, and the outcome; and the watch
over one command from start to end: its output, time, memory and processes.
"""

import errno
import os
import selectors
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Event
from time import monotonic
from typing import NamedTuple

from pydantic import Field

from forge_bot.forge import FOLDER
from forge_bot.sandbox.helper_processes import descendants, keeper
from forge_bot.settings.protected_paths import held_in_sandbox
from forge_bot.values import Frozen

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a place inside a box


class BackendName(StrEnum):
    """The means by which a command is held, strongest first."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    OFF = "off"


class ResourceLimits(Frozen):
    """The resources that one command may use.

    docs/sandbox.md explains how each limit is enforced.
    """

    seconds: float = Field(
        default=600, gt=0, description="until everything that was started is ended; exit code 124"
    )
    output_bytes: int = Field(
        default=1_000_000, ge=1_000, description="kept of the output, half of it from the end"
    )
    memory_bytes: int = Field(
        default=4 * 2**30,
        ge=2**20,
        description="of all processes together; exit code 137",
    )
    processes: int = Field(default=512, ge=1, description="alive at a time; exit code 137")
    file_bytes: int = Field(default=2**30, ge=1, description="size of any one file that is written")
    shared_memory_bytes: int = Field(
        default=2**30, ge=2**20, description="in /dev/shm; by bubblewrap only"
    )


class Box(Frozen):
    """The place where a command runs and what it may access. It cannot reach anything else."""

    worktree: Path = Field(
        description="the only project folder that can be written; also where the command starts"
    )
    network: bool = Field(default=False, description="for the installation of dependencies only")
    hosts: tuple[str, ...] = Field(
        default=(), description="that setup reaches beside registries, as HOST or HOST:PORT"
    )
    services: tuple[int, ...] = Field(
        default=(),
        description="ports of this machine's 127.0.0.1 that it reaches; by bubblewrap and off only",
    )
    writable: tuple[Path, ...] = Field(
        default=(), description="further folders it may write; made when missing"
    )
    readable: tuple[Path, ...] = Field(
        default=(), description="further folders or files it may read; skipped when missing"
    )
    copied: Mapping[str, Path] = Field(
        default={}, description="by variables: folders of which it gets a copy, deleted afterwards"
    )
    env: Mapping[str, str] = Field(default={}, description="added to the clean environment")
    secret_env: Mapping[str, str] = Field(
        default={}, repr=False, description="variables that stand on no command line"
    )
    read_only_inside: tuple[str, ...] = Field(
        default=(".git", FOLDER, ".specs", ".forge"), description="inside the work tree"
    )
    kept_inside: tuple[str, ...] = Field(
        default=held_in_sandbox(),
        description="inside the work tree: read-only if there, removed afterwards if new",
    )
    limits: ResourceLimits = ResourceLimits()


class CommandOutcome(Frozen):
    """The result of a command.

    The exit code is its own, 124 for a timeout, 126 and 127 when it could not be started, and 128 +
    n for signal n.
    """

    exit_code: int
    output: str = Field(
        description=(
            "stdout and stderr as they came; when cut, one line says how many bytes are left out"
        )
    )
    timed_out: bool = False
    duration_ms: int = 0
    backend: BackendName
    cannot_judge: str = Field(
        default="",
        description="why a failure says nothing about the project: what the backend could not give",
    )


_PIECE = 65_536
_LOOK_SECONDS = 0.1
# Checking a full box may take a while; it gets at most this share of our time.
_LOOK_SHARE = 10
# A killed process ends at once unless the kernel holds it (a dead network file system). Then we
# stop waiting for it.
_PATIENCE_SECONDS = 10


class BoundedOutput:
    """Receives a stream in pieces and keeps its head and its tail.

    It never holds more than `limit` bytes and the current piece.
    """

    def __init__(self, limit: int) -> None:
        self._head_room = limit // 2
        self._tail_room = limit - limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def add(self, piece: bytes) -> None:
        room = self._head_room - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        surplus = max(0, len(self._tail) - self._tail_room)
        del self._tail[:surplus]
        self._left_out += surplus

    def text(self) -> str:
        """Return head and tail as text.

        Bytes that are no UTF-8 become U+FFFD. A cut is reported on its own line.
        """
        if not self._left_out:
            return bytes(self._head + self._tail).decode(errors="replace")
        head, tail = self._head.decode(errors="replace"), self._tail.decode(errors="replace")
        return f"{head}\n[… {self._left_out} bytes left out …]\n{tail}"


class CommandEnding(NamedTuple):
    """The exit code of a command that was ended, and the reason in words."""

    exit_code: int
    words: str


TIMED_OUT, _INTERRUPTED, _KILLED = 124, 130, 137


@dataclass(frozen=True)
class ProcessReport:
    """The observations about one command; `ending` if it was ended from outside."""

    kept: BoundedOutput
    ending: CommandEnding | None
    seconds: float


class CannotStart(Exception):
    """A command cannot be started, by a system error of exec. The codes are those of POSIX shells
    (XCU 2.8.2).
    """

    def __init__(self, name: str, number: int) -> None:
        missing = number in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
        why = f"cannot be executed ({os.strerror(number)})"
        super().__init__(f"{name}: {'no such command in the sandbox' if missing else why}.\n")
        self.exit_code = 127 if missing else 126


def start_kept(
    words: Sequence[str], descriptors: tuple[int, ...], stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    """Start a program under a keeper, which ends all of its processes; both streams of its output
    are one pipe.
    """
    return subprocess.Popen(
        [*keeper(), *words],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": "/usr/bin:/bin"},
        cwd="/",
        pass_fds=descriptors,
        start_new_session=True,
    )


def watch(
    output: int,
    above: int,
    stop: Callable[[], None],
    limits: ResourceLimits,
    called_off: Event | None,
) -> ProcessReport:
    """Read the descriptor `output` to its end.

    `stop` is called once when the processes below pid `above` exceed a limit, or another thread
    sets `called_off`. The end of the output means that all processes have ended: both backends hold
    it open until the last process has ended.
    """
    began, kept, ending = monotonic(), BoundedOutput(limits.output_bytes), None
    next_look, ended = began + _LOOK_SECONDS / 2, False
    try:
        with selectors.DefaultSelector() as waiting:
            waiting.register(output, selectors.EVENT_READ)
            while ending is None and not ended:
                now = monotonic()
                if now >= next_look:
                    ending = _ending(above, limits, called_off)
                    next_look = now + max(_LOOK_SECONDS, (monotonic() - now) * _LOOK_SHARE)
                if now >= began + limits.seconds:
                    ending = CommandEnding(TIMED_OUT, f"ended after {limits.seconds:g} seconds")
                ended = ending is None and _take(
                    waiting, kept, min(began + limits.seconds, next_look) - now
                )
            if ending is not None:
                stop()
                until = monotonic() + _PATIENCE_SECONDS
                while (left := until - monotonic()) > 0 and not _take(waiting, kept, left):
                    pass
    except BaseException:
        stop()
        raise
    return ProcessReport(kept, ending, monotonic() - began)


def _take(waiting: selectors.DefaultSelector, kept: BoundedOutput, seconds: float) -> bool:
    """Keep the output of the next `seconds`; True at the end of the output."""
    for key, _ in waiting.select(max(0.0, seconds)):
        piece = os.read(key.fd, _PIECE)
        kept.add(piece)
        return not piece
    return False


def _ending(above: int, limits: ResourceLimits, called_off: Event | None) -> CommandEnding | None:
    if called_off is not None and called_off.is_set():
        return CommandEnding(_INTERRUPTED, "called off")
    below = descendants(above)
    if len(below) > limits.processes:
        words = f"ended for running more than {limits.processes} processes at a time"
        return CommandEnding(_KILLED, words)
    # Pages that forked processes share count once for each in what is quick to read.
    for kilobytes in (_resident_kilobytes, _proportional_kilobytes):
        if sum(map(kilobytes, below)) * 1024 <= limits.memory_bytes:
            return None
    most = limits.memory_bytes // 2**20
    return CommandEnding(_KILLED, f"ended for using more than {most} MiB of memory")


def _resident_kilobytes(pid: int) -> int:
    """Return the memory of a process without the files that it has mapped (proc_pid_status(5))."""
    return _kilobytes(pid, "status", ("RssAnon:", "RssShmem:"))


def _proportional_kilobytes(pid: int) -> int:
    """Return the same with each page divided by the processes that share it, as far as the kernel
    tells it (proc_pid_smaps(5)).
    """
    return _kilobytes(pid, "smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) or _resident_kilobytes(pid)


def _kilobytes(pid: int, file: str, fields: tuple[str, ...]) -> int:
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines.splitlines() if line.startswith(fields))
