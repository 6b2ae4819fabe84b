"""Comments fit into what GitHub takes, and what finds no room is linked, never cut in the middle of
something.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.interaction.fit_comment import (
    LIMIT,
    Paper,
    Papers,
    compose,
    fold,
    limited,
    shares,
    show_papers,
    size,
    title,
)
from forge_bot.interaction.number_format import head, row
from tests.bot.reading import acts, elements, folded, shown
from tests.prompts.test_escape import HOSTILE

URL = "https://github.com/octo/rota/blob/1a2b3c4/design.md"


def test_a_sign_outside_the_first_plane_counts_twice() -> None:
    assert size("a🔨") == 3


def test_parts_without_words_leave_no_gap_and_documents_get_what_is_left() -> None:
    assert compose(["a", "", limited((), ""), "b"]) == "a\n\nb\n"
    papers = Papers([Paper(name="a.md", text="# A\n\nwords\n\n" * 9_000, url=URL)])
    text = compose([papers, "x" * 500, "the end"], limit=2_000)
    assert size(text) <= 2_000
    assert text.endswith(f"{'x' * 500}\n\nthe end\n")


def test_rows_that_find_no_room_are_counted() -> None:
    lines = [row(str(number)) for number in range(500)]
    text = limited(lines, "checkpoint.and_more", before=head("columns.tokens"), most=400)
    rows = len(elements(text, "td"))
    assert text.endswith(f"\n\n_and {500 - rows} more_")
    assert 10 < rows < 400


@given(st.lists(st.integers(0, 500), min_size=1, max_size=8), st.integers(0, 1_500))
def test_small_parts_get_all_they_need_and_large_ones_the_same(sizes: list[int], room: int) -> None:
    given_ = shares(sizes, room)
    assert sum(given_) <= room
    assert all(got <= wanted for got, wanted in zip(given_, sizes, strict=True))
    if sum(sizes) <= room:
        assert list(given_) == sizes


def test_a_long_document_is_cut_between_sections_and_names_the_whole() -> None:
    findings = "".join(f"## Finding {number}\n\n- a line\n\nand words\n\n" for number in range(500))
    said = show_papers(Papers([Paper(name="review.md", text=findings, url=URL)]), 10_000)
    assert 8_000 < size(said) <= 10_000
    assert "more characters found no room here." in said
    assert said.count("Finding") == said.count("and words")
    assert elements(said, "a")[-1].get("href") == URL
    assert len(elements(said, "details")) == 1


def test_a_short_document_is_whole_beside_a_long_one() -> None:
    short = Paper(name="review.md", text="Short and whole.")
    said = show_papers(
        Papers([Paper(name="design.md", text="# A\n\nwords\n\n" * 9_000, url=URL), short]),
        10_000,
    )
    assert size(said) <= 10_000
    assert "Short and whole." in folded(said)[1]


def test_a_document_without_room_is_a_link_and_no_empty_block() -> None:
    said = show_papers(Papers([Paper(name="design.md", text="words\n" * 200, url=URL)]), 300)
    assert elements(said, "details") == []
    assert elements(said, "a")[0].get("href") == URL


def test_an_empty_document_says_that_it_is_empty() -> None:
    assert (
        "This file is empty."
        in folded(show_papers(Papers([Paper(name="a.md", text=" \n")]), 5_000))[0]
    )


def test_a_document_with_hidden_text_is_shown_as_it_is_written() -> None:
    said = show_papers(Papers([Paper(name="a.md", text="Words.\n\n<!-- hidden -->\n")]), 5_000)
    assert "since GitHub would not show all of it: 1 HTML comment (line 3)" in shown(said)
    assert "<!-- hidden -->" in shown(said)


def test_a_label_of_a_fold_is_words() -> None:
    said = fold(title("</summary></details><img src=x> @ann #1"), "body")
    assert len(elements(said, "details", "summary")) == 2
    assert acts(said) == []


@given(HOSTILE, st.integers(100, 3_000), st.booleans())
@settings(max_examples=12, deadline=None)
def test_whatever_a_document_says_it_stays_in_its_fold_and_in_its_room(
    text: str, room: int, patch: bool
) -> None:
    documents = [
        Paper(name="a.md", text=text * 20, url=URL, language="diff" if patch else ""),
        Paper(name="b.md", text="AFTER", url=URL),
    ]
    said = show_papers(Papers(documents), room)
    assert size(said) <= max(room, 250)
    page = f"{said}\n\nOUTSIDE\n"
    assert acts(page) == []
    assert page.count("<details>") >= len(folded(page))
    assert "OUTSIDE" not in "".join(folded(page))
    assert elements(page, "p")[-1].text == "OUTSIDE"


def test_the_limit_is_below_github_s_with_room_to_spare() -> None:
    assert LIMIT < 65_536 - 5_000
