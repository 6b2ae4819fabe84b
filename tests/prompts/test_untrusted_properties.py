"""What holds for cleaning any text at all."""

from collections.abc import Iterable, Iterator
from typing import cast
from xml.etree.ElementTree import Element

import html5lib
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forge_bot.prompts.invisible import is_suspect
from forge_bot.prompts.untrusted import clean, clean_plain, fence
from tests.fakes.rows import rows

ROWS = rows(__file__)

MARKS = (
    *"<!->`[]()\"'\\|#*_~&;:=/? \n\t^{}0aZ",
    "-->",
    "--!>",
    "<!--",
    "```\n",
    "~~~\n",
    "\n\n",
    "> ",
    "- ",
    "1. ",
    "    ",
)
UNSEEN = tuple(
    "\u200b\u200c\u200d\u2060\ufe0f\ufeff\u202e\u00ad\u180e\u3164\u2800\x00\x1b\ue000\ud800\U000e0041\U000e0100"
)
LETTERS = tuple("éяمیकष्👩💻🏴❤日本ᠠ⠓")
HTML = ROWS["html"]
MARKDOWN = ROWS["markdown"]
ANYTHING = st.lists(
    st.sampled_from(MARKS + UNSEEN + LETTERS + HTML + MARKDOWN)
    | st.text(st.characters(), max_size=3),
    max_size=40,
).map("".join)
WORDS = st.lists(
    st.text("abcdefghijklmnopqrstuvwxyzäöüжяあ漢 ", min_size=1, max_size=12), max_size=12
).map("\n".join)


@given(ANYTHING)
@settings(max_examples=50, deadline=None)
def test_any_text_is_cleaned_once_and_for_all(text: str) -> None:
    cleaned = clean(text)
    again = clean(cleaned.text)
    assert (again.text, again.removals) == (cleaned.text, ())


@given(WORDS)
@settings(max_examples=25, deadline=None)
def test_plain_words_stay(text: str) -> None:
    cleaned = clean(text)
    assert (cleaned.text.split(), cleaned.removals) == (text.split(), ())


@given(WORDS, ANYTHING)
@settings(max_examples=25, deadline=None)
def test_nothing_that_follows_harms_the_words_before(words: str, rest: str) -> None:
    first = words.split()
    assert clean(f"{words}\n\n***\n\n{rest}").text.split()[: len(first)] == first


@given(st.text(st.characters() | st.sampled_from(UNSEEN + LETTERS)))
@settings(max_examples=50, deadline=None)
def test_plain_text_loses_unseen_characters_and_nothing_else(text: str) -> None:
    cleaned = clean_plain(text).text
    drawn = [
        char for char in text.replace("\r\n", "\n").replace("\r", "\n") if not is_suspect(char)
    ]
    assert [char for char in cleaned if not is_suspect(char)] == drawn
    assert clean_plain(cleaned).removals == ()


# Pieces on which GitHub, a browser and this reading agree, so that a page made by other means can
# say what is seen. The sign in the words keeps them from being taken for the language of a code
# block, which stays without being shown.
AGREED = ROWS["agreed"]


# Hidden text in whole constructs: leaving one out makes no new one of its neighbours.
WHOLE = ROWS["whole"]


def seen(markdown: str) -> str:
    """The words on the page that markdown-it's renderer and html5lib's parser make of a text."""
    page = MarkdownIt("commonmark", {"maxNesting": 60}).enable("table").render(markdown)
    # The stubs leave the tree untyped, because it can be built in several ways.
    tree = html5lib.parseFragment(page, namespaceHTMLElements=False)  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
    return "".join(words_in(cast("Element", tree)))


def words_in(element: Element) -> Iterator[str]:
    if not callable(cast("object", element.tag)):  # a comment has a function for a tag
        yield element.text or ""
        for child in element:
            yield from words_in(child)
    yield element.tail or ""


def word_lists(pieces: Iterable[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(
        st.sampled_from(list(pieces))
        | st.integers(100, 999).map(lambda number: f" word{number}% "),
        min_size=1,
        max_size=18,
    )


def words_of(pieces: list[str]) -> set[str]:
    words = [piece.strip() for piece in pieces if piece.startswith(" word")]
    assume(len(words) == len(set(words)))
    return set(words)


@given(word_lists(AGREED))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_the_model_reads_no_word_that_a_rendered_page_does_not_show(pieces: list[str]) -> None:
    words, text = words_of(pieces), "".join(pieces)
    assume("--->" not in text)  # editions of CommonMark differ on where such a comment ends
    page, read = seen(text), clean(text).text
    assert {word for word in words if word in read} <= {word for word in words if word in page}


@given(word_lists(WHOLE))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_the_model_reads_every_word_that_a_rendered_page_shows(pieces: list[str]) -> None:
    words, text = words_of(pieces), "".join(pieces)
    page, read = seen(text), clean(text).text
    assert {word for word in words if word in read} == {word for word in words if word in page}
    assert "hidden" not in read or "hidden" in page


@given(ANYTHING, st.text(max_size=20))
@settings(max_examples=25, deadline=None)
def test_a_fence_has_one_beginning_and_one_end_whatever_is_inside(text: str, label: str) -> None:
    fenced = fence(text, label)
    assert fenced.count("<untrusted-text") == fenced.count("</untrusted-text>") == 1
    assert fenced.splitlines()[0].endswith('">')
