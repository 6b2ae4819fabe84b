"""Judge whether the project's own commands are newly red, by comparing their output with that of
the run before the change; and find the commands that have no usable result there.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

from forge_bot.text_format import command_line
from forge_bot.values import CommandName, CommandResult, Frozen, Recorded, unless_empty

UNNAMED = "… and what the output does not name"
_MOST_NAMED = 10
_OLD_NAMED = 3
"""Failures that were there before: a few say which they are."""


NOT_FOUND = 127
NOT_STARTED = frozenset({126, NOT_FOUND})
_FEWEST = 2
"""Tests that have to fail together before one speaks of all: a single one may be the defect."""
_NO_MODULE = re.compile(r"\S*python[\d.]*(?:\.exe)?: No module named \S+")
_NOT_COMPILED = re.compile(r"error: could not compile .*")
_NONE_FOUND = re.compile(
    r"^(?:No tests found|No test files found|Error: No test files found)", re.MULTILINE
)
_NO_TEST = re.compile(
    r"^[^:]*\(error\)$|^setUp(?:Class|Module)\b|^tearDown(?:Class|Module)\b|^… "
    r"|\[.*\] \(.*\)$|\) \(.*=.*\)$"
)
"""Failures that name no single test: a class, a file, a part of a test, or an unnamed one."""


class Cause(StrEnum):
    """The reason why the result of a command is unusable."""

    SETUP_FAILED = "setup_failed"
    MISSING_TOOL = "missing_tool"
    TIMED_OUT = "timed_out"
    NOT_COLLECTED = "not_collected"
    NO_TESTS = "no_tests"
    ALL_RED = "all_red"
    UNREADABLE = "unreadable"


class UnusableCommand(Recorded):
    """A command without a usable result before the change."""

    name: CommandName
    argv: tuple[str, ...]
    cause: Cause
    left_out: bool = unless_empty(
        False, description="a linter that setup does not install: no person is asked"
    )

    def covers(self, result: CommandResult) -> bool:
        """Return whether going on without this command leaves `result` unjudged.

        Without setup nothing is judged.
        """
        return self.cause is Cause.SETUP_FAILED or (self.name, self.argv) == (
            result.name,
            result.argv,
        )


class Judgement(Frozen):
    """The judgement on the change.

    `reasons` make it red, `notes` add information. Both are sentences.
    """

    red: bool
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def judge(
    baseline: Sequence[CommandResult],
    after: Sequence[CommandResult],
    without: Sequence[UnusableCommand] = (),
    broken: Sequence[str] = (),
) -> Judgement:
    """Judge whether the change made a green command red, or hides whether it did.

    Exit code 0 is green, unless no test ran. A command that fails exactly as before is not red. A
    command that was red before is red only if something new fails. If the output does not show
    that, the command is red too: unknown never means yes. `without` names the commands that a
    person agreed not to judge by. `broken` are rules of the project that hold no more: each makes
    it red.
    """
    known = {(before.name, before.argv): before for before in baseline}
    again = {(now.name, now.argv) for now in after}
    gone = [before for key, before in known.items() if key not in again]
    reasons, notes = list[str](), list[str]()
    for result in after:
        if not _is_left_out(result, without):
            before, now = _without_flaky(known.get((result.name, result.argv)), result)
            reason = _explain_red(before, now)
            reasons += [reason] if reason else []
            notes += _notes(before, now, is_red=bool(reason)) if before is not None else []
    reasons += [
        f"{_label(before)} ran before the change but not after it."
        for before in gone
        if not _is_left_out(before, without)
    ]
    reasons += [f"The change breaks a rule of the project: {rule}" for rule in broken]
    notes += [
        f"{_label(result)} has flaky tests, which are not judged: they failed in one run and passed"
        f" in another of the same code{_naming(result.flaky)}."
        for result in after
        if result.flaky
    ]
    notes += [explain_unjudged(command) for command in without]
    if not (after or baseline):
        notes.append("No project command ran, so nothing was verified.")
    return Judgement(red=bool(reasons), reasons=tuple(reasons), notes=tuple(notes))


def newly_failing(before: CommandResult, now: CommandResult) -> tuple[str, ...]:
    """Return the failures that are certainly new; empty also if that cannot be determined."""
    if not _fails(now) or now.timed_out or cause_of(now) is Cause.MISSING_TOOL:
        return ()
    if not _fails(before):
        return now.failures or (f"exit code {now.exit_code}",)
    if not _readable(before):
        return ()
    return tuple(name for name in _new(before, now) if name != UNNAMED)


def _new(before: CommandResult, now: CommandResult) -> list[str]:
    """Return the failures that are new since before the change.

    If a linter was red before, the project does not enforce all of its rules. So another complaint
    of a kind that a file already has is not new.
    """
    if now.name is CommandName.LINT:
        return [name for name in now.failures if name not in before.failures]
    return [*(Counter(now.failures) - Counter(before.failures)).elements()]


_BEFORE = {
    Cause.SETUP_FAILED: "failed before the change",
    Cause.MISSING_TOOL: "could not be started before the change",
    Cause.TIMED_OUT: "did not end in time before the change",
    Cause.NOT_COLLECTED: "could not load its tests before the change",
    Cause.NO_TESTS: "ran no test before the change",
    Cause.ALL_RED: "had only failing tests before the change",
    Cause.UNREADABLE: "failed before the change without naming what fails",
}


def said_before(command: UnusableCommand) -> str:
    """Return a command and why it tells nothing: `test (`make test`) ran no test before …`."""
    return f"{_label(command)} {_BEFORE[command.cause]}"


def going_without_setup(unusable: Sequence[UnusableCommand]) -> str:
    """Return the sentence that setup failed and a person agreed to go on; empty if it did not."""
    failed = [command for command in unusable if command.cause is Cause.SETUP_FAILED]
    return f"{said_before(failed[0])}; a person agreed to go on without it." if failed else ""


def explain_unjudged(command: UnusableCommand) -> str:
    """Return why a command is not judged, as a sentence."""
    if command.left_out:
        return f"{_label(command)} is not judged: the setup does not install it."
    rest = ", and nothing after it is" if command.cause is Cause.SETUP_FAILED else ""
    return f"{said_before(command)}; a person agreed that it is not judged{rest}."


def _without_flaky(
    before: CommandResult | None, now: CommandResult
) -> tuple[CommandResult | None, CommandResult]:
    """Return the results as if the flaky tests had passed."""
    if before is None or not now.flaky or now.timed_out:
        return before, now

    def steady(result: CommandResult) -> CommandResult:
        kept = tuple(name for name in result.failures if name not in now.flaky)
        counted = result.exit_code == len(result.failures)
        code = 0 if not kept else len(kept) if counted else result.exit_code
        return result.replace(failures=kept, exit_code=code)

    passed = steady(now).replace(tests=now.tests or before.tests)
    return (steady(before) if before.failures else before), passed


def _is_left_out(result: CommandResult, without: Sequence[UnusableCommand]) -> bool:
    return any(command.covers(result) for command in without)


def _explain_red(before: CommandResult | None, now: CommandResult) -> str:
    """Return the reason why a command is newly red; "" if it is green or fails as before."""
    label, reason = _label(now), ""
    if _fails_as_before(before, now):
        return ""
    if now.timed_out:
        reason = f"{label} did not end in time."
    elif now.exit_code in NOT_STARTED:
        why = "command not found" if now.exit_code == NOT_FOUND else "not executable"
        reason = f"{label} could not be started: {why}."
    elif now.name is CommandName.TEST and now.tests == 0 and not now.failures:
        reason = f"{label} ran no test."
    elif now.exit_code:
        reason = _explain_failure(before, now)
    elif before is not None and before.tests and now.tests is None:
        reason = (
            f"{label} ended well, but its output no longer tells that any test ran;"
            f" before, {before.tests} did."
        )
    return reason


def _fails_as_before(before: CommandResult | None, now: CommandResult) -> bool:
    """Return whether a command that is not green fails exactly as before the change.

    A setup that fails is never as before: without it nothing after it can be trusted.
    """
    cause = cause_of(now)
    is_green = not _fails(now) and cause is None
    if before is None or now.name is CommandName.SETUP or is_green:
        return False
    return (
        (before.exit_code, before.timed_out, before.failures, cause_of(before))
        == (now.exit_code, now.timed_out, now.failures, cause)
    ) and (bool(now.failures) or cause is not Cause.UNREADABLE)


def _fails(result: CommandResult) -> bool:
    return result.exit_code != 0 or result.timed_out


def _explain_failure(before: CommandResult | None, now: CommandResult) -> str:
    """Return the reason why a failed command is newly red; "" if it fails as before."""
    why = ""
    if before is None:
        why = f", and there is no run from before the change to compare with{_naming(now.failures)}"
    elif now.name is CommandName.SETUP:
        why = "; without it nothing after it can be trusted"
    elif not _fails(before):
        why = f"; it was green before the change{_naming(now.failures)}"
    elif _readable(before) and {*(new := _new(before, now))} - {UNNAMED}:
        why = f"; it was red before the change too, but these are new{_naming(new)}"
    elif not (_readable(before) and _readable(now) and _same_end(before, now)):
        why = "; it was red before the change too, and it cannot be told whether anything new fails"
    return f"{_label(now)} failed with exit code {now.exit_code}{why}." if why else ""


def _notes(before: CommandResult, now: CommandResult, *, is_red: bool) -> Iterator[str]:
    if _fails_as_before(before, now) and not _fails(now):
        yield f"{_label(now)} ran no test, as before the change."
    elif _fails(now) and not is_red:
        named = _naming(now.failures, _OLD_NAMED)
        yield f"{_label(now)} was red before the change and still is{named}."
    if now.exit_code == 0 and now.failures:
        named = _naming(now.failures)
        yield f"{_label(now)} ended well although its output tells of failures{named}."
    if before.tests is not None and now.tests is not None and now.tests < before.tests:
        yield (
            f"{_label(now)} ran fewer tests than before the change: {now.tests} instead of"
            f" {before.tests}."
        )


def _readable(result: CommandResult) -> bool:
    return bool(result.failures) and UNNAMED not in result.failures and not result.timed_out


def _same_end(before: CommandResult, now: CommandResult) -> bool:
    """Return whether both runs ended alike.

    Mocha's exit code is the number of its failures, so fewer failures may change it.
    """
    counted = before.exit_code == len(before.failures) and now.exit_code == len(now.failures)
    return before.exit_code == now.exit_code or counted


def _label(result: CommandResult | UnusableCommand) -> str:
    return f"{result.name.value} (`{command_line(result.argv)}`)"


def _naming(items: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return the first of some failures, each once, and how many more there are."""
    named = [*dict.fromkeys(items)][:most]
    left = len(items) - sum(item in named for item in items)
    more = f" and {left} more" if left else ""
    return f": {', '.join(named)}{more}" if items else ""


def unusable(
    results: Sequence[CommandResult], *, lint_is_set: bool = True
) -> tuple[UnusableCommand, ...]:
    """Return the commands without a usable result, in the order of their results. One that ran no
    test beside another that ran some is no question: its folder holds helpers of tests. A linter
    that was only detected and is not installed, such as one that pre-commit runs, is left out.
    """
    tested = any(result.tests for result in results)
    return tuple(
        UnusableCommand(
            name=result.name,
            argv=result.argv,
            cause=cause,
            left_out=result.name is CommandName.LINT
            and cause is Cause.MISSING_TOOL
            and not lint_is_set,
        )
        for result in results
        if (cause := cause_of(result)) is not None
        if not (tested and cause is Cause.NO_TESTS)
    )


def cause_of(result: CommandResult) -> Cause | None:
    """Return the reason why a result is unusable; None if a change can be compared with it."""
    if result.timed_out:
        return Cause.TIMED_OUT
    if result.name is CommandName.SETUP:
        return Cause.SETUP_FAILED if result.exit_code else None
    if is_missing(result):
        return Cause.MISSING_TOOL
    if result.name is CommandName.TEST and (cause := _find_cause_in_tests(result)) is not None:
        return cause
    return Cause.UNREADABLE if result.exit_code and not result.failures else None


def is_missing(result: CommandResult) -> bool:
    """Return whether a program was not found, or the module of a `python -m`."""
    module = _NO_MODULE.fullmatch(result.tail.strip().rpartition("\n")[2])
    no_module = module is not None and "-m" in result.argv and result.exit_code != 0
    return result.exit_code in NOT_STARTED or no_module


def _find_cause_in_tests(result: CommandResult) -> Cause | None:
    if not result.tests and _NOT_COMPILED.search(result.tail) and result.exit_code:
        return Cause.NOT_COLLECTED
    if result.tests is None and _NONE_FOUND.search(result.tail):
        return Cause.NO_TESTS
    if result.tests == 0:
        alone = any("::" in name for name in result.failures)
        cause = Cause.ALL_RED if alone else Cause.NOT_COLLECTED
        return cause if result.failures else Cause.NO_TESTS
    if result.failures and all("_FailedTest" in name for name in result.failures):
        return Cause.NOT_COLLECTED
    failed = sum(not _NO_TEST.search(name) for name in result.failures)
    if result.tests and _FEWEST <= result.tests <= failed:
        return Cause.ALL_RED
    return None
