"""One test runner's account of itself."""

from collections.abc import Sequence

from forge_bot.values import Frozen

Lines = Sequence[str]

COVERAGE = "coverage is below what the project requires"


class RunnerResult(Frozen):
    """What a runner printed. `tests` counts those that ran, skipped ones not; None if the output does not tell.

    `whole` is False when something failed that has no name here, or when the runner stopped before it had run everything.
    """

    tests: int | None = None
    failing: tuple[str, ...] = ()
    whole: bool = True
