"""Times of something done again and again: the middle one, and how far the others lie apart."""

import statistics
import time
from collections.abc import Callable, Sequence
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
    """One line of the table: what was done, with how much of it around, how often, and how long it took."""

    what: str
    size: str
    times: int
    figure: Figure


def timed(once: Callable[[], object]) -> float:
    """Seconds that one go takes."""
    start = time.perf_counter()
    once()
    return time.perf_counter() - start


def measured(once: Callable[[], object], times: int, *, inner: int = 1, warm: bool = True) -> Figure:
    """Seconds of one go, measured `times` times over `inner` goes each; with `warm`, after a go that does not count."""
    if warm:
        once()

    def several() -> None:
        for _ in range(inner):
            once()

    return summed_up([timed(several) / inner for _ in range(times)])


def summed_up(values: Sequence[float], unit: str = "s") -> Figure:
    """The figure of some values."""
    return Figure(statistics.median(values), min(values), max(values), unit)
