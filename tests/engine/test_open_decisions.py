"""The open decisions of a design are read in one form; any other is sent back."""

import pytest

from forge_bot.artifacts.design_outline import read_open_decisions
from tests.fakes.rows import rows

ROWS = rows(__file__)

DESIGN: str = ROWS["design"]


def test_numbered_items_are_open_decisions_and_their_first_option_is_the_default() -> None:
    decisions, problems = read_open_decisions(DESIGN)
    assert problems == ()
    first, second = decisions
    assert (
        first.question
        == "README says “a partial file stays until `expires`”. Does that still hold?"
    )
    assert [(each.letter, each.text) for each in first.options] == [
        ("a", "It holds; only new files are removed."),
        ("b", "Partial files go at once, and README says so."),
    ]
    assert (first.number, first.default.letter) == (1, "a")
    assert (second.number, [each.letter for each in second.options]) == (2, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("1. Does it hold?", "decision 1"),
        ("1. Does it hold?\n   - a: Yes.", "decision 1"),
        ("1. Does it hold?\n   - yes\n   - no", "decision 1"),
        ("1. Does it hold?\n   - b: Yes.\n   - a: No.", "decision 1"),
        ("1. Does it hold?\n   - a: Yes.\n   - a: No.", "decision 1"),
        ("1. One?\n   - a: Yes.\n   - b: No.\n2. Two? Recommended: no.", "decision 2"),
        ("2. One?\n   - a: Yes.\n   - b: No.", "1, 2, 3"),
    ],
)
def test_another_form_is_a_problem_that_names_the_place_and_the_form(
    written: str, place: str
) -> None:
    decisions, problems = read_open_decisions(f"# fix: x\n\n## Decisions\n\n{written}\n")
    assert decisions == ()
    assert place in str(problems[0])
    assert "`- a: the least change`" in str(problems[0])


@pytest.mark.parametrize("written", ["None.", "- Does the client follow? Later.", ""])
def test_a_design_without_numbers_leaves_nothing_open(written: str) -> None:
    assert read_open_decisions(f"## Decisions\n\n{written}\n") == ((), ())
