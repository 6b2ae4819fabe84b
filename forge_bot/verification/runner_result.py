"""The result that a test runner prints."""

import re
from collections.abc import Iterable, Sequence

from forge_bot.values import Frozen

Lines = Sequence[str]


def matches(pattern: re.Pattern[str], lines: Iterable[str]) -> list[re.Match[str]]:
    return [match for line in lines if (match := pattern.fullmatch(line)) is not None]


COVERAGE = "coverage is below what the project requires"


class RunnerResult(Frozen):
    """The result that a runner printed.

    `tests` counts the tests that ran, without skipped ones; it is None if the output does not say.
    `whole` is False if a failure has no name here, or if the runner stopped early. `passed` is None
    if the runner does not list the tests that passed. `shown` is what it would print.
    """

    tests: int | None = None
    failing: tuple[str, ...] = ()
    whole: bool = True
    passed: tuple[str, ...] | None = None
    shown: str = ""
