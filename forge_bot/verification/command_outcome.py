"""Read the outcome of a command of the project: its exit code, and what its output says."""

import re
from collections.abc import Iterable, Sequence

from forge_bot.values import CommandName, CommandResult
from forge_bot.verification.diagnostics import read_diagnostics
from forge_bot.verification.judgement import UNNAMED
from forge_bot.verification.output_compiled import read_cargo, read_go
from forge_bot.verification.output_javascript import (
    read_ava,
    read_bun,
    read_jest,
    read_mocha,
    read_node,
    read_vitest,
)
from forge_bot.verification.output_python import read_pytest, read_unittest
from forge_bot.verification.output_ruby import read_minitest, read_rspec, read_test_unit
from forge_bot.verification.runner_result import COVERAGE, RunnerResult
from forge_bot.verification.shown_output import GAP, TAIL_CHARACTERS, TAIL_LINES, shown_output

_READERS = (
    read_pytest,
    read_unittest,
    read_go,
    read_cargo,
    read_node,
    read_jest,
    read_vitest,
    read_mocha,
    read_ava,
    read_bun,
    read_rspec,
    read_minitest,
    read_test_unit,
)

# Colours and other terminal control sequences,
# https://ecma-international.org/publications-and-standards/standards/ecma-48/.
_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

_LONGEST_LINE = 4_000
"""Characters of a line of output that are looked at."""


def read_outcome(
    name: CommandName,
    argv: Sequence[str],
    exit_code: int,
    output: str,
    duration_ms: int,
    timed_out: bool = False,
) -> CommandResult:
    """Return the result of a command from its exit code and its whole output.

    The output holds standard output and standard error in the order they were written. `failures`
    end with `UNNAMED` if more tests failed than the output names, or if the runner stopped early;
    but of a command that failed without a name they are empty.
    """
    lines = [cut_line(line) for line in plain_lines(output)]
    tests, failures, whole = None, [], True
    if name is CommandName.TEST:
        runs = [ran for reader in _READERS if (ran := reader(lines)) is not None]
        tests, failures, whole = _together(runs)
    elif exit_code != 0 and name in {CommandName.BUILD, CommandName.LINT}:
        complaints = read_diagnostics(lines)
        failures, whole = [*complaints.items], complaints.whole
    return CommandResult(
        name=name,
        argv=tuple(argv),
        exit_code=exit_code,
        duration_ms=duration_ms,
        timed_out=timed_out,
        tests=tests,
        failures=(
            *sorted(failures),
            *([UNNAMED] if not whole and (failures or exit_code == 0) else []),
        ),
        tail=shown_output(lines, TAIL_CHARACTERS, TAIL_LINES),
    )


def of_part(result: CommandResult) -> CommandResult:
    """Return the result of a part of the tests as if no coverage were required: what they cover is
    less than what all of them do.
    """
    if COVERAGE not in result.failures or not result.tests:
        return result
    left = tuple(name for name in result.failures if name != COVERAGE)
    return result.replace(failures=left, exit_code=result.exit_code if left else 0)


def _together(runs: Iterable[RunnerResult]) -> tuple[int | None, list[str], bool]:
    """Combine several runners. If one count is unknown, the sum is unknown."""
    accounts = [*runs]
    counts = [ran.tests for ran in accounts]
    total = (
        sum(count for count in counts if count is not None)
        if accounts and None not in counts
        else None
    )
    return (
        total,
        [item for ran in accounts for item in ran.failing],
        all(ran.whole for ran in accounts),
    )


def cut_line(line: str) -> str:
    """Return the line, without the middle of a very long one: a command may write a million
    characters in a line, and the time to read it would grow with their square.
    """
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[: _LONGEST_LINE // 2]}{GAP}{line[-_LONGEST_LINE // 2 :]}"


def plain_lines(output: str) -> Sequence[str]:
    """Return the lines of the output without terminal control.

    Of an overwritten line only the last text remains.
    """
    plain = _CONTROL.sub("", output).replace("\r\n", "\n")
    return [line.rpartition("\r")[2].rstrip() for line in plain.split("\n")]
