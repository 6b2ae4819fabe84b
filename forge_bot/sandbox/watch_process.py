"""Watch one command from start to end: its output, time, memory and processes."""

import errno
import os
import selectors
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Event
from time import monotonic

from forge_bot.sandbox.box import ResourceLimits
from forge_bot.sandbox.keeper_process import descendants

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

    @property
    def truncated(self) -> bool:
        """Return whether bytes between head and tail were dropped."""
        return self._left_out > 0

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
        if not self.truncated:
            return bytes(self._head + self._tail).decode(errors="replace")
        head, tail = self._head.decode(errors="replace"), self._tail.decode(errors="replace")
        return f"{head}\n[… {self._left_out} bytes left out …]\n{tail}"


class ExceededLimit(StrEnum):
    """The limit that a command exceeded."""

    TIME = "time"
    MEMORY = "memory"
    PROCESSES = "processes"
    CALLED_OFF = "called off"


@dataclass(frozen=True)
class ProcessReport:
    """The observations about one command."""

    kept: BoundedOutput
    overrun: ExceededLimit | None
    seconds: float


@dataclass(frozen=True)
class CannotStart:
    """A command that cannot be started. The codes are those of POSIX shells (XCU 2.8.2)."""

    exit_code: int
    sentence: str


def cannot_start(name: str, number: int) -> CannotStart:
    """Return the exit code and sentence for a system error of exec."""
    if number in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
        return CannotStart(127, f"{name}: no such command in the sandbox.\n")
    return CannotStart(126, f"{name}: cannot be executed ({os.strerror(number)}).\n")


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
    began, kept, overrun = monotonic(), BoundedOutput(limits.output_bytes), None
    next_look, ended = began + _LOOK_SECONDS / 2, False
    try:
        with selectors.DefaultSelector() as waiting:
            waiting.register(output, selectors.EVENT_READ)
            while overrun is None and not ended:
                now = monotonic()
                if now >= next_look:
                    overrun = _overrun(above, limits, called_off)
                    next_look = now + max(_LOOK_SECONDS, (monotonic() - now) * _LOOK_SHARE)
                if now >= began + limits.seconds:
                    overrun = ExceededLimit.TIME
                ended = overrun is None and _take(
                    waiting, kept, min(began + limits.seconds, next_look) - now
                )
            if overrun is not None:
                stop()
                _take_the_rest(waiting, kept)
    except BaseException:
        stop()
        raise
    return ProcessReport(kept, overrun, monotonic() - began)


def _take(waiting: selectors.DefaultSelector, kept: BoundedOutput, seconds: float) -> bool:
    """Keep the output of the next `seconds`; True at the end of the output."""
    for key, _ in waiting.select(max(0.0, seconds)):
        piece = os.read(key.fd, _PIECE)
        kept.add(piece)
        return not piece
    return False


def _take_the_rest(waiting: selectors.DefaultSelector, kept: BoundedOutput) -> None:
    until = monotonic() + _PATIENCE_SECONDS
    while (left := until - monotonic()) > 0 and not _take(waiting, kept, left):
        pass


def _overrun(above: int, limits: ResourceLimits, called_off: Event | None) -> ExceededLimit | None:
    if called_off is not None and called_off.is_set():
        return ExceededLimit.CALLED_OFF
    below = descendants(above)
    if len(below) > limits.processes:
        return ExceededLimit.PROCESSES
    resident = sum(map(_resident_kilobytes, below))
    return ExceededLimit.MEMORY if resident * 1024 > limits.memory_bytes else None


def _resident_kilobytes(pid: int) -> int:
    """Return the memory of a process without the files that it has mapped (proc_pid_status(5)).

    Pages that several processes share count once for each.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    fields = ("RssAnon:", "RssShmem:")
    return sum(int(line.split()[1]) for line in lines.splitlines() if line.startswith(fields))
