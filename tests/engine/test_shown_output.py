"""What a model is shown of a command's output: the failing tests' own words first, without terminal
control, and where they stand in the code.
"""

from pathlib import Path
from time import process_time

import pytest

from forge_bot.values import CommandName
from forge_bot.verification.command_outcome import (
    about,
    failure_blocks,
    plain_lines,
    read_outcome,
    red_places,
    shown_output,
)
from tests.fakes.rows import rows

ROWS = rows(__file__)

OUTPUTS = Path(__file__).parent.parent / "fixtures" / "outputs"

PYTEST: str = ROWS["pytest"]


def shown(output: str) -> str:
    return shown_output(plain_lines(output), 4_000, 60)


def test_what_a_test_printed_comes_after_its_own_words_and_is_short() -> None:
    output = PYTEST.format(printed="\n".join(f"line {n}" for n in range(9_000)), tables="")
    said = shown(output)
    assert said.startswith("__________________________________ test_words")
    assert said.index("E       AssertionError") < said.index("line 0")
    assert "line 4000" not in said
    assert len(said) <= 4_000


@pytest.mark.parametrize(
    ("name", "item", "words"),
    [
        ("pytest_default", "test_sample.py::test_error (error)", 'RuntimeError("no")'),
        ("pytest_default", "test_sample.py::test_param[a - b]", "E     + a - b"),
        ("unittest_fail", "test_bad (unit_sample.T.test_bad)", "AssertionError"),
        ("cargo_test", "tests::fails", "panicked at"),
        ("node_spec", "fails plainly", "AssertionError [ERR_ASSERTION]: 1 == 2"),
    ],
)
def test_each_runner_says_in_a_block_of_its_own_what_is_wrong_with_a_test(
    name: str, item: str, words: str
) -> None:
    blocks = failure_blocks(plain_lines((OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")))
    assert any(about(item, block) and words in block.text for block in blocks), [*blocks]


def test_what_a_test_prints_to_the_console_of_jest_is_no_failing_test() -> None:
    output = "  ● Console\n\n    console.log\n      hi\n\n  ● adds › two\n\n    Expected: 2\n"
    assert [block.title for block in failure_blocks(plain_lines(output))] == ["adds › two"]


def test_a_green_output_that_fits_is_shown_as_it_is() -> None:
    text = (OUTPUTS / "pytest_green.txt").read_text(encoding="utf-8")
    assert shown(text) == "\n".join(plain_lines(text)).strip("\n")


@pytest.mark.parametrize("piece", ["_", "_ ", "= ", "- 1 ", "  1) ", "FAIL: x\n", "✖ "])
def test_output_without_end_is_read_in_no_time(piece: str) -> None:
    output = piece * (1_000_000 // len(piece))
    before = process_time()
    assert len(shown(output)) <= 4_000
    assert process_time() - before < 5


def test_no_words_of_a_failing_test_are_shown_twice() -> None:
    rule, many = "=" * 70, "\n".join(f"test_{n} (tests.T.test_{n}) ... ok" for n in range(90))
    failures = "\n".join(
        f"{rule}\nFAIL: test_{n} (tests.T.test_{n})\n{'-' * 70}\nAssertionError: {n} is wrong\n"
        for n in (91, 92)
    )
    said = shown(f"{many}\n{failures}\n{'-' * 70}\nRan 92 tests in 0.001s\n\nFAILED (failures=2)\n")
    assert said.startswith("FAIL: test_91")
    assert (
        said.count("AssertionError: 91 is wrong") == said.count("AssertionError: 92 is wrong") == 1
    )
    assert said.endswith("Ran 92 tests in 0.001s\n\nFAILED (failures=2)")


@pytest.mark.parametrize(
    ("output", "command", "places"),
    [
        ("unittest_fail", "python -m unittest", ["unit_sample.py:17", "unit_sample.py:6"]),
        ("unittest_import", "python -m unittest", []),
        ("cargo_test", "cargo test", ["src/lib.rs:13", "src/lib.rs:15"]),
        ("node_spec", "node --test", ["nodetest/a.test.js:3", "nodetest/a.test.js:3"]),
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
