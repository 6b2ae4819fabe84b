"""The beginning of a long text ends where a sentence or a part of one ends."""

import pytest

from forge_bot.text_format import gist


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Short enough.", "Short enough."),
        ("Two\n lines  as one.", "Two lines as one."),
        ("A first sentence is whole. The second one does not fit.", "A first sentence is whole. …"),
        ("It returns the day, so that swaps count both ways, and more", "It returns the day …"),
        (
            "One sentence without any sign that goes on and on for long",
            "One sentence without any sign …",
        ),
        ("x" * 60, f"{'x' * 30} …"),
    ],
)
def test_a_text_is_cut_where_its_sense_ends(text: str, shown: str) -> None:
    assert gist(text, 32) == shown
