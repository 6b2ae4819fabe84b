"""How text becomes words to search by, and lines that are safe to show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.knowledge.search_index import words
from forge_bot.text_format import short_line
from tests.fakes.rows import rows

ROWS = rows(__file__)


@pytest.mark.parametrize(("text", "expected"), ROWS["text_is_split_into_the"])
def test_text_is_split_into_the_words_people_search_by(
    text: str, expected: tuple[str, ...]
) -> None:
    assert words(text) == [*expected]


@pytest.mark.parametrize(("many", "one"), ROWS["a_plural_and_its_singular"])
def test_a_plural_and_its_singular_are_one_word(many: str, one: str) -> None:
    assert words(many) == words(one)


@pytest.mark.parametrize("word", ["status", "class", "analysis", "bus", "alias", "https"[:4]])
def test_a_word_that_only_ends_like_a_plural_is_left_alone(word: str) -> None:
    assert words(word) == [word]


@given(st.text())
def test_words_never_hold_blanks_or_capitals(text: str) -> None:
    assert all(
        word and word == word.casefold() and not any(sign.isspace() for sign in word)
        for word in words(text)
    )


def test_a_line_has_no_breaks_and_nothing_that_cannot_be_seen() -> None:
    hidden = "a\u200bb\u202ec\U000e0041d\ufe0fe\x1b[0m\x00"
    assert short_line(f" {hidden}\r\n\u2028 next\tword ") == "abcde[0m next word"


def test_a_long_line_is_cut_and_shows_it() -> None:
    assert short_line("x" * 400) == "x" * 299 + "…"
    assert short_line("x" * 300) == "x" * 300
    assert short_line("a b c d", 4) == "a b…"
