"""Tell flaky tests from red ones: newly red tests run again, at both commits.

A test that gives two outcomes at one commit is flaky. One that fails each time after the change and
passes each time before it is red.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from enum import StrEnum

from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.judgement import UNNAMED, Cause, cause_of
from forge_bot.verification.runners import select_tests

MOST_RERUN = 50
"""Newly red tests that are run again. If there are more, no chance is behind it."""
RERUNS = 5
"""Reruns of a test at each commit, alone and with the others."""


class Moment(StrEnum):
    """A commit at which tests run."""

    BEFORE = "before the change"
    AFTER = "after the change"


RunTests = Callable[[Moment, Sequence[str]], CommandResult | None]
"""Runs the tests of these names alone, or all without a name. None if there is no more time."""


def newly_red(before: CommandResult, now: CommandResult) -> tuple[str, ...]:
    """Return the newly failing tests whose outcomes can be told; `UNNAMED` stands for failures
    without a name. Of several tests of one name nobody can tell which of them failed.
    """
    if now.name is not CommandName.TEST or not now.exit_code or not _compares(before, now):
        return ()
    new = [name for name in dict.fromkeys(now.failures) if name not in before.failures]
    return tuple(new) or (() if before.exit_code or now.failures else (UNNAMED,))


def _compares(before: CommandResult, now: CommandResult) -> bool:
    """Return whether tests ran in both."""
    return {cause_of(before), cause_of(now)} <= {None, Cause.ALL_RED, Cause.UNREADABLE}


def flaky_tests(before: CommandResult, now: CommandResult, run: RunTests) -> tuple[str, ...]:
    """Return the newly red tests that are flaky, sorted.

    First they run alone, if the runner can select them. A test that passes alone may still fail
    with the others, so for such a test all run again.
    """
    suspects = newly_red(before, now)
    if not suspects or len(suspects) > MOST_RERUN:
        return ()
    reruns = _Reruns(now.argv, run)
    reruns.together(reruns.alone(suspects))
    return tuple(sorted(reruns.flaky))


class _Reruns:
    """The outcomes of one command's newly red tests so far."""

    def __init__(self, argv: Sequence[str], run: RunTests) -> None:
        self.argv = argv
        self.run = run
        self.flaky: set[str] = set()
        self._seen: dict[tuple[Moment, str], set[bool]] = {}

    def alone(self, suspects: Sequence[str]) -> list[str]:
        """Run tests alone until their outcomes disagree; return those that this cannot judge.

        All reruns of one commit come first, since each commit has to be built anew.
        """
        left = [name for name in suspects if select_tests(self.argv, (name,)) is not None]
        others = [name for name in suspects if name not in left]
        for _ in range(RERUNS):
            steady = [name for name in left if not self._is_mixed(name)]
            after = self._outcomes(Moment.AFTER, steady)
            others += [name for name in steady if name not in after]
            left = [name for name in left if name not in others]
        for _ in range(RERUNS):
            asked = [name for name in left if self._needs_base(name)]
            before = self._outcomes(Moment.BEFORE, asked)
            # A test that is new with the change is the change's own, and stays red if it is flaky.
            left = [name for name in left if name in before or name not in asked]
            self.flaky |= {name for name in left if self._is_mixed(name)}
            left = [name for name in left if name not in self.flaky]
        # Green alone after the change, or red alone before it: it depends on other tests.
        return others + [
            name
            for name in left
            if self._passes(Moment.AFTER, name) or self._fails(Moment.BEFORE, name)
        ]

    def together(self, suspects: Sequence[str]) -> None:
        """Run everything until the outcomes of these tests disagree with their first ones."""
        left: list[str] = [*suspects]
        for moment in (Moment.AFTER,) * RERUNS + (Moment.BEFORE,) * RERUNS:
            result = self.run(moment, ()) if left else None
            if result is None:
                return
            first = moment is Moment.AFTER
            self.flaky |= {name for name in left if _disagrees(name, first, result)}
            left = [name for name in left if name not in self.flaky]

    def _needs_base(self, name: str) -> bool:
        """Return whether the outcome at the base is unknown, or could decide more."""
        return (Moment.BEFORE, name) not in self._seen or self._fails(Moment.AFTER, name)

    def _is_mixed(self, name: str) -> bool:
        """Return whether a test gave both outcomes at one commit."""
        return any(self._passes(moment, name) and self._fails(moment, name) for moment in Moment)

    def _passes(self, moment: Moment, name: str) -> bool:
        return False in self._seen.get((moment, name), ())

    def _fails(self, moment: Moment, name: str) -> bool:
        return True in self._seen.get((moment, name), ())

    def _outcomes(self, moment: Moment, names: Sequence[str]) -> Collection[str]:
        """Run tests, in one command if it reports each of them; return the reported ones."""
        outcomes = dict(self._read_moment(moment, names)) if names else {}
        if len(names) > 1:
            for name in names:
                if name not in outcomes:
                    outcomes |= dict(self._read_moment(moment, (name,)))
        for name, red in outcomes.items():
            self._seen.setdefault((moment, name), set()).add(red)
        return outcomes

    def _read_moment(self, moment: Moment, names: Sequence[str]) -> Iterator[tuple[str, bool]]:
        """Yield each test whose outcome a run of these tests shows, and whether it failed."""
        selection = select_tests(self.argv, names)
        result = self.run(moment, names) if selection is not None else None
        if selection is None or result is None or result.timed_out:
            return
        whole = UNNAMED not in result.failures and (result.tests or 0) >= selection.tests
        for name in names:
            if name in result.failures:
                yield name, True
            elif whole and (result.failures or not result.exit_code):
                yield name, False


def _disagrees(name: str, first: bool, result: CommandResult) -> bool:
    """Return whether the second outcome of a test is known and differs from the first (True: it
    failed).
    """
    if result.timed_out or result.tests == 0:
        return False
    if not result.exit_code:
        return first
    if name == UNNAMED:
        return not first and not result.failures
    failed = name in result.failures
    is_known = bool(result.failures) and (failed or UNNAMED not in result.failures)
    return is_known and failed is not first
