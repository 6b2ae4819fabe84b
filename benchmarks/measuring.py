"""Times of something done again and again: the middle one, and how far the others lie apart."""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple


class Figure(NamedTuple):
    """Median, fastest and slowest: seconds, or a plain number where `unit` says so."""

    median: float
    low: float
    high: float
    unit: str = "s"

    def over(self, parts: int) -> "Figure":
        """The share of one part."""
        return Figure(self.median / parts, self.low / parts, self.high / parts, self.unit)


class Row(NamedTuple):
    """One line of the table: what was done, with how much of it around, how often, and how long it
    took.
    """

    what: str
    size: str
    times: int
    figure: Figure


_LEFT_OUT = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
"""What makes Python slow in a way that no user has."""


def as_a_user(**more: str) -> dict[str, str]:
    """Return the environment of a process that is measured as it is on a user's machine, where what
    is imported is compiled once.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return {**kept, **more}


Clock = Callable[[], float]


def processor_time(process: int) -> float:
    """Seconds of a processor that a process and those it has waited for have used."""
    words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def all_processor_time() -> float:
    """Seconds of a processor that this process and those it has waited for have used."""
    return processor_time(os.getpid())


WALL: Clock = time.perf_counter
"""The clock on the wall: for all that starts processes or waits for a disk."""

PROCESSOR: Clock = time.process_time
"""What this process had of a processor: for pure computing, which then looks the same beside other
programs."""


def _of_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


CHILDREN: Clock = _of_children
"""What the processes that were started from here, and have ended, had of a processor: the same
beside other programs, and without what they waited for a disk."""


def timed(once: Callable[[], object], clock: Clock = WALL) -> float:
    """Seconds that one go takes."""
    start = clock()
    once()
    return clock() - start


def measured(
    once: Callable[[], object],
    times: int,
    *,
    inner: int = 1,
    warm: bool = True,
    clock: Clock = PROCESSOR,
) -> Figure:
    """Seconds of one go, measured `times` times over `inner` goes each; with `warm`, after a go
    that does not count.
    """
    if warm:
        once()

    def several() -> None:
        for _ in range(inner):
            once()

    return summed_up([timed(several, clock) / inner for _ in range(times)])


def summed_up(values: Sequence[float], unit: str = "s") -> Figure:
    """The figure of some values."""
    return Figure(statistics.median(values), min(values), max(values), unit)
