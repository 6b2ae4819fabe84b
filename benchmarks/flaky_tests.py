"""Flaky tests and regressions, told apart by real runs of unittest.

`python -m benchmarks.flaky_tests [VERIFICATIONS]`. Each verification is a project of its own with
one test that fails in a share of its runs, one that never does, and in some a regression. Chance
comes from a seed for each run, so that the figures can be had again.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.command_outcome import read_outcome
from forge_bot.verification.flaky_tests import Moment, flaky_tests, newly_red
from forge_bot.verification.judgement import judge
from forge_bot.verification.selected_tests import select_tests

_ARGV = ("python3", "-m", "unittest", "-v", "test_it")
_SUITE = """import os, random, unittest

class It(unittest.TestCase):
    def test_flaky(self):
        self.assertGreaterEqual(random.Random(os.environ["SEED"]).random(), {share})

    def test_steady(self):
        pass

    def test_feature(self):
        self.assertFalse({broken} and os.environ["MOMENT"] == "after the change")
"""


class Verified(NamedTuple):
    """How one verification came out."""

    red: bool
    suspected: bool
    found: bool
    runs: int


class _Project:
    def __init__(self, folder: Path, share: float, number: int, *, broken: bool) -> None:
        self.folder = folder
        self.number = number
        self.runs = 0
        suite = _SUITE.format(share=share, broken=broken)
        (folder / "test_it.py").write_text(suite, encoding="utf-8")

    def run(self, moment: Moment, names: Sequence[str] = ()) -> CommandResult:
        """Run all tests, or those of these names."""
        selection = select_tests(_ARGV, names)
        argv = selection.argv if selection is not None else _ARGV
        self.runs += 1
        seed = f"{self.number}.{self.runs}"
        done = subprocess.run(
            (sys.executable, *argv[1:]),
            cwd=self.folder,
            env={**os.environ, "SEED": seed, "MOMENT": moment.value},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return read_outcome(CommandName.TEST, argv, done.returncode, done.stdout, 1)


def verified(share: float, number: int, *, broken: bool = False) -> Verified:
    """Run the baseline, the verification and the reruns of one project."""
    with tempfile.TemporaryDirectory(prefix="flaky-") as folder:
        project = _Project(Path(folder), share, number, broken=broken)
        before, after = project.run(Moment.BEFORE), project.run(Moment.AFTER)
        suspected = bool(newly_red(before, after))
        after = after.model_copy(update=flaky_tests(before, after, project.run)._asdict())
        judgement = judge([before], [after])
        found = any("test_feature" in reason for reason in judgement.reasons)
        return Verified(judgement.red, suspected, found, project.runs)


def main() -> int:
    """Print a row for each share, with and without a regression."""
    parser = argparse.ArgumentParser(description="Flaky tests and regressions.")
    parser.add_argument("verifications", type=int, nargs="?", default=100)
    count: int = parser.parse_args().verifications
    print(
        "| planted | verifications | newly red before reruns | judged red | runs each | seconds |"
    )
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for broken, most in ((False, count), (True, 20)):
        for share in (0.1, 0.3, 0.5):
            began = time.monotonic()
            done = [verified(share, number, broken=broken) for number in range(most)]
            red = sum(each.found if broken else each.red for each in done)
            row = (
                f"fails in {share:.0%} of its runs{', beside a regression' if broken else ''}",
                str(most),
                str(sum(each.suspected for each in done)),
                str(red),
                f"{sum(each.runs for each in done) / most:.1f}",
                f"{time.monotonic() - began:.0f}",
            )
            print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
