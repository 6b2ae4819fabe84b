"""The beginning of a long text ends between words."""

import pytest

from forge_bot.text_format import gist


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Two\n lines  as one.", "Two lines as one."),
        ("It returns the day, so that swaps count both ways", "It returns the day, so that …"),
        ("x" * 40, f"{'x' * 30} …"),
    ],
)
def test_a_text_is_cut_between_words(text: str, shown: str) -> None:
    assert gist(text, 32) == shown
