"""Watch one command from start to end: its output, time, memory and processes."""

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

SHARED_MEMORY = "/dev/shm"  # noqa: S108
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
        """Add the next piece of the stream."""
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
    SHARED_MEMORY = "shared memory"
    CALLED_OFF = "called off"


@dataclass(frozen=True)
class WatchLimits:
    """The limits of a command. It may also be ended by another thread that sets `called_off`."""

    limits: ResourceLimits
    called_off: Event | None = None
    shared_memory_bytes: int | None = None
    """The bytes allowed in the machine's /dev/shm; None when the command has its own."""


@dataclass(frozen=True)
class ProcessReport:
    """The observations about one command."""

    kept: BoundedOutput
    overrun: ExceededLimit | None
    seconds: float
    asked: frozenset[str] = frozenset()
    """The requests that the backend had to refuse: "tcp", "unix"."""


def watch(
    output: int, above: int, stop: Callable[[], None], patience: WatchLimits
) -> ProcessReport:
    """Read the descriptor `output` to its end.

    `stop` is called once when the processes below pid `above` exceed a limit. The end of the output
    means that all processes have ended: both backends hold it open until the last process has
    ended.
    """
    began, kept, limits = monotonic(), BoundedOutput(patience.limits.output_bytes), patience.limits
    next_look, ended, overrun = began + _LOOK_SECONDS / 2, False, None
    try:
        with selectors.DefaultSelector() as waiting:
            waiting.register(output, selectors.EVENT_READ)
            while overrun is None and not ended:
                now = monotonic()
                overrun, next_look = _look(now, began + limits.seconds, next_look, above, patience)
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


def _look(
    now: float, until: float, next_look: float, above: int, patience: WatchLimits
) -> tuple[ExceededLimit | None, float]:
    if now >= until:
        return ExceededLimit.TIME, next_look
    if now < next_look:
        return None, next_look
    if patience.called_off is not None and patience.called_off.is_set():
        return ExceededLimit.CALLED_OFF, next_look
    overrun = _overrun(above, patience.limits)
    if (
        overrun is None
        and patience.shared_memory_bytes is not None
        and shared_memory_used() > patience.shared_memory_bytes
    ):
        overrun = ExceededLimit.SHARED_MEMORY
    cost = monotonic() - now
    return overrun, now + max(_LOOK_SECONDS, cost * _LOOK_SHARE)


def _overrun(above: int, limits: ResourceLimits) -> ExceededLimit | None:
    below = descendants(above)
    if len(below) > limits.processes:
        return ExceededLimit.PROCESSES
    # Pages that several processes share count once for each; the exact sum costs more and is
    # computed only when it matters.
    resident = {pid: _kilobytes(pid, "status", ("RssAnon:", "RssShmem:")) for pid in below}
    if sum(resident.values()) * 1024 <= limits.memory_bytes:
        return None
    # A process can refuse the exact view of itself; then all it shares counts.
    exact = sum(
        _kilobytes(pid, "smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) or resident[pid]
        for pid in below
    )
    return ExceededLimit.MEMORY if exact * 1024 > limits.memory_bytes else None


def shared_memory_used() -> int:
    """Return the number of bytes in the machine's /dev/shm, from all processes.

    Unlinked files count while they are open.
    """
    found = os.statvfs(SHARED_MEMORY)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def shared_memory_room(limit: int) -> int:
    """Return how many bytes may be in the machine's /dev/shm while a command runs: what is there
    already, for which nobody can tell who left it, and at most half of what is free.
    """
    found = os.statvfs(SHARED_MEMORY)
    return shared_memory_used() + min(limit, found.f_bfree * found.f_frsize // 2)


def _kilobytes(pid: int, name: str, fields: tuple[str, ...]) -> int:
    """Return the sum of some fields of a file in /proc.

    Source: proc_pid_status(5), Documentation/ABI/testing/procfs-smaps_rollup.
    """
    try:
        lines = (
            Path(f"/proc/{pid}/{name}").read_text(encoding="ascii", errors="replace").splitlines()
        )
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields))
