"""Comments fit into what GitHub takes, and what finds no room is linked, never cut in the middle of
something.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.interaction.fit_comment import Paper, Papers, fold, show_papers, size, title
from tests.bot.reading import acts, elements, folded
from tests.prompts.test_escape import HOSTILE

URL = "https://github.com/octo/rota/blob/1a2b3c4/design.md"


def test_a_sign_outside_the_first_plane_counts_twice() -> None:
    assert size("a🔨") == 3


def test_a_long_document_is_cut_between_sections_and_names_the_whole() -> None:
    findings = "".join(f"## Finding {number}\n\n- a line\n\nand words\n\n" for number in range(500))
    said = show_papers(Papers([Paper(name="review.md", text=findings, url=URL)]), 10_000)
    assert 8_000 < size(said) <= 10_000
    assert "more characters found no room here." in said
    assert said.count("Finding") == said.count("and words")
    assert elements(said, "a")[-1].get("href") == URL
    assert len(elements(said, "details")) == 1


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
