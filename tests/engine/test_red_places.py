"""What is red is named by the line of its file that its runner gives."""

from pathlib import Path

import pytest

from forge_bot.values import CommandName
from forge_bot.verification.command_outcome import read_outcome
from forge_bot.verification.red_places import red_places

OUTPUTS = Path(__file__).parent.parent / "fixtures" / "outputs"


@pytest.mark.parametrize(
    ("output", "command", "places"),
    [
        ("unittest_fail", "python -m unittest", ["unit_sample.py:17", "unit_sample.py:6"]),
        ("unittest_import", "python -m unittest", []),
        ("cargo_test", "cargo test", ["src/lib.rs:13", "src/lib.rs:15"]),
        ("cargo_compile", "cargo test", ["src/lib.rs:16", "src/lib.rs:15"]),
        ("node_tap", "node --test", ["nodetest/a.test.js:3", "nodetest/a.test.js:3"]),
        ("go_events", "go test -json", ["bad/x_test.go:3"]),
        ("ruff_concise", "ruff check", ["lint/a.py:1", "lint/a.py:1"]),
        ("tsc", "tsc", ["ts/a.ts:1", "ts/a.ts:1"]),
    ],
)
def test_a_place_is_a_known_file_with_the_line_that_the_runner_says(
    output: str, command: str, places: list[str]
) -> None:
    text = (OUTPUTS / f"{output}.txt").read_text(encoding="utf-8")
    kind = CommandName.TEST if "test" in command else CommandName.LINT
    result = read_outcome(kind, tuple(command.split()), 1, text, 5).result
    files = ("unit_sample.py", "src/lib.rs", "nodetest/a.test.js", "bad/x_test.go")
    files += ("lint/a.py", "ts/a.ts", "loader.txt")
    found = red_places(result.failures, result.tail.splitlines(), files)
    assert [f"{place.file}:{place.line}" for place in found][:2] == places
