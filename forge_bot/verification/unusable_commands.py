"""Find the commands without a usable result before the change."""

import re
from collections.abc import Sequence
from enum import StrEnum

from forge_bot.values import CommandName, CommandResult, Recorded

NOT_FOUND = 127
NOT_STARTED = frozenset({126, NOT_FOUND})
_PYTEST_USAGE = 4
_FEWEST = 2
"""Tests that have to fail together before one speaks of all: a single one may be the defect."""
_USAGE = re.compile(
    r"unrecognized arguments?|unexpected argument|invalid value '[^']*' for '-|no such option"
    r"|unknown (?:option|flag|argument|shorthand flag)|flag provided but not defined"
    r"|unrecognized option|invalid choice: |option .* not recognized"
    r"|no test target named|requires the features: |does not contain package"
    r"|stat \S+: directory not found|\bno Go files in "
    r"|directory \S+ outside (?:main module|modules listed in go\.work)",
    re.IGNORECASE,
)
_NO_MODULE = re.compile(r"\S*python[\d.]*(?:\.exe)?: No module named \S+")
_NOT_COMPILED = re.compile(r"error: could not compile .*")
_NONE_FOUND = re.compile(
    r"^(?:No tests found|No test files found|Error: No test files found)", re.MULTILINE
)
_NO_TEST = re.compile(
    r"\[(?:build|setup) failed\]$| panicked$|\.go: |^[^:]*\(error\)$"
    r"|^setUp(?:Class|Module)\b|^tearDown(?:Class|Module)\b|^… |\[.*\] \(.*\)$|\) \(.*=.*\)$"
)
"""Failures that name no single test: a class, a file, a part of a test, or an unnamed one."""
_UNSTEADY = re.compile(
    r"0x[0-9a-fA-F]{4,}|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\b"
    r"|\b\d+(?:\.\d+)? ?(?:ms|s|secs?|seconds|minutes?)\b|\b(?:pid|PID|seed|Seed)[ =:]+\d+"
)


class Cause(StrEnum):
    """The reason why the result of a command is unusable."""

    SETUP_FAILED = "setup_failed"
    MISSING_TOOL = "missing_tool"
    TIMED_OUT = "timed_out"
    USAGE_ERROR = "usage_error"
    NOT_COLLECTED = "not_collected"
    NO_TESTS = "no_tests"
    ALL_RED = "all_red"
    UNREADABLE = "unreadable"


class UnusableCommand(Recorded):
    """A command without a usable result before the change."""

    name: CommandName
    argv: tuple[str, ...]
    cause: Cause

    def covers(self, result: CommandResult) -> bool:
        """Return whether going on without this command leaves `result` unjudged.

        Without setup nothing is judged.
        """
        return self.cause is Cause.SETUP_FAILED or (self.name, self.argv) == (
            result.name,
            result.argv,
        )


def unusable(results: Sequence[CommandResult]) -> tuple[UnusableCommand, ...]:
    """Return the commands without a usable result, in the order of their results."""
    return tuple(
        UnusableCommand(name=result.name, argv=result.argv, cause=cause)
        for result in results
        if (cause := cause_of(result)) is not None
    )


def cause_of(result: CommandResult) -> Cause | None:
    """Return the reason why a result is unusable; None if a change can be compared with it."""
    if result.timed_out:
        return Cause.TIMED_OUT
    if result.name is CommandName.SETUP:
        return Cause.SETUP_FAILED if result.exit_code else None
    if is_missing(result):
        return Cause.MISSING_TOOL
    if is_usage_error(result):
        return Cause.USAGE_ERROR
    if result.name is CommandName.TEST and (cause := _find_cause_in_tests(result)) is not None:
        return cause
    return Cause.UNREADABLE if result.exit_code and not result.failures else None


def is_missing(result: CommandResult) -> bool:
    """Return whether a program was not found, or the module of a `python -m`."""
    module = _NO_MODULE.fullmatch(result.tail.strip().rpartition("\n")[2])
    no_module = module is not None and "-m" in result.argv and result.exit_code != 0
    return result.exit_code in NOT_STARTED or no_module


def is_usage_error(result: CommandResult) -> bool:
    """Return whether the tool refused its arguments and did nothing else."""
    if not result.exit_code or result.tests or result.failures:
        return False
    if "pytest" in result.argv and result.exit_code == _PYTEST_USAGE:
        return True
    return _USAGE.search(result.tail) is not None


def same_failure(before: CommandResult, now: CommandResult) -> bool:
    """Return whether a command fails as it did before the change, readable or not."""
    if (before.exit_code, before.timed_out) != (now.exit_code, now.timed_out):
        return False
    cause = cause_of(before)
    if cause is not cause_of(now) or before.failures != now.failures:
        return False
    if now.failures or cause in {Cause.MISSING_TOOL, Cause.TIMED_OUT, Cause.NO_TESTS}:
        return True
    return _steady(before.tail) == _steady(now.tail)


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


def _steady(tail: str) -> str:
    """Return an output without what differs from run to run: times, dates, addresses, seeds."""
    return _UNSTEADY.sub("…", tail)
