"""Read test outcomes of RSpec, minitest and test-unit.

The formats were taken from real runs of rspec 3.12, minitest 5.15 and test-unit 3.5, on their own
and below rake.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from forge_bot.verification.runner_result import Lines, RunnerResult, matches

_RSPEC_END = re.compile(
    r"(?P<examples>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<pending>\d+) pending)?"
    r"(?:, (?P<errors>\d+) errors? occurred outside of examples)?"
)
_RSPEC_FAILED = re.compile(
    r"rspec '?(?:\./)?(?P<path>[^'\s]+?)(?:\[[\d:]+\])?(?::\d+)?'? # (?P<name>.+)"
)
_RSPEC_BROKEN = re.compile(r"An error occurred while loading (?:\./)?(?P<path>\S+)\.")

_MINITEST_END = re.compile(
    r"(?P<tests>\d+) (?:runs|tests), \d+ assertions, (?P<failures>\d+) failures,"
    r" (?P<errors>\d+) errors, (?P<skips>\d+) skips"
)
_MINITEST_KIND = re.compile(r"(?: *\d+\) )?(?:Failure|Error):")
_MINITEST_FAILED = re.compile(r"(?P<name>\S[^#]*#.+?)(?: \[[^\[\]]+\])?:")

_TEST_UNIT_END = re.compile(
    r"(?P<tests>\d+) tests, \d+ assertions, (?P<failures>\d+) failures, (?P<errors>\d+) errors,"
    r" \d+ pendings, (?P<skips>\d+) omissions, \d+ notifications"
)
_TEST_UNIT_FAILED = re.compile(r"(?:Failure|Error): (?P<name>.+?\([A-Z][\w:]*\))(?:: .*)?")


def read_rspec(lines: Lines) -> RunnerResult | None:
    """Read the end of RSpec's text formatters: the counts, and a line to repeat each failure."""
    ends = matches(_RSPEC_END, lines)
    if not ends:
        return None
    failed = matches(_RSPEC_FAILED, lines)
    broken = matches(_RSPEC_BROKEN, lines)
    return RunnerResult(
        tests=_sum(ends, "examples") - _sum(ends, "pending"),
        failing=(
            *(f"{match['path']} > {match['name']}" for match in failed),
            *(f"{match['path']} (error)" for match in broken),
        ),
        whole=len(failed) >= _sum(ends, "failed") and len(broken) >= _sum(ends, "errors"),
    )


def read_minitest(lines: Lines) -> RunnerResult | None:
    """Read minitest's summary, also as Rails prints it, without numbers."""
    return _summed(lines, _MINITEST_END, [*_minitest_names(lines)])


def read_test_unit(lines: Lines) -> RunnerResult | None:
    """Read test-unit's console runner."""
    failed = matches(_TEST_UNIT_FAILED, lines)
    return _summed(lines, _TEST_UNIT_END, [match["name"] for match in failed])


def _minitest_names(lines: Lines) -> Iterator[str]:
    for kind, line in pairwise(lines):
        if _MINITEST_KIND.fullmatch(kind) is not None:
            named = _MINITEST_FAILED.fullmatch(line.strip())
            if named is not None:
                yield named["name"]


def _summed(lines: Lines, end: re.Pattern[str], names: list[str]) -> RunnerResult | None:
    ends = matches(end, lines)
    if not ends:
        return None
    return RunnerResult(
        tests=_sum(ends, "tests") - _sum(ends, "skips"),
        failing=tuple(names),
        whole=len(names) >= _sum(ends, "failures") + _sum(ends, "errors"),
    )


def _sum(ends: list[re.Match[str]], group: str) -> int:
    return sum(int(end[group] or 0) for end in ends)
