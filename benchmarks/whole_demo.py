"""The whole demo: a repository is made, a recorded run goes through every phase, the sample's tests
run.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Row, summed_up, timed
from tests.fakes.finished import demo

TIMES = 3


def rows() -> Iterator[Row]:
    """Each time in a folder of its own."""
    yield Row("forge-bot demo --yes", "", TIMES, summed_up([_once() for _ in range(TIMES)]))


def _once() -> float:
    with tempfile.TemporaryDirectory(prefix="forge-bot-benchmarks-") as name:
        return timed(lambda: demo(Path(name)))
