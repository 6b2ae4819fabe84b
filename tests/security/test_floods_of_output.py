"""Output that a project's tests made to keep its reader busy: the time limit of a command ends
before the output is read.
"""

import time

import pytest

from forge_bot.values import CommandName
from forge_bot.verification.command_outcome import GAP, read_outcome

MOST = 1_000_000
"""What is kept of a command's output."""


@pytest.mark.parametrize("begins", ["", "Tests: ", "✖ ", "___ ", "--- FAIL: ", "--> "])
@pytest.mark.parametrize("sign", ["1", "_", "= ", ": ", "a/", "(1"])
def test_a_line_of_a_million_signs_is_read_in_a_moment(begins: str, sign: str) -> None:
    line = begins + sign * (MOST // len(sign))
    before = time.process_time()
    for name in (CommandName.TEST, CommandName.LINT):
        result = read_outcome(
            name, ("npm", "test"), 1, f"{line}!\nTests: 1 failed, 2 total\n", 1
        ).result
        assert result.tail.endswith("Tests: 1 failed, 2 total")
    # The slowest takes a hundredth of that. One whose time grew with the square of the length
    # would take an hour.
    assert time.process_time() - before < 10


def test_of_a_long_line_both_ends_are_shown_and_what_is_around_it_counts() -> None:
    output = "FAIL a.test.js\nbegins " + "x" * MOST + " ends\nTests: 1 failed, 1 passed, 2 total\n"
    result = read_outcome(CommandName.TEST, ("npx", "jest"), 1, output, 1).result
    assert f"x{GAP}x" in result.tail
    assert " ends" in result.tail
