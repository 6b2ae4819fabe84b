"""Whatever a document says, in a comment it shows the same and does nothing."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.prompts import escape
from forge_bot.prompts.active_markdown import active_markup
from forge_bot.prompts.invisible import is_suspect
from tests.bot.reading import acts, elements, shown
from tests.fakes.rows import rows
from tests.fakes.sampled import sampled

ROWS = rows(__file__)

PIECES = ROWS["pieces"]
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)


@given(HOSTILE)
@settings(max_examples=30, deadline=None)
def test_no_document_calls_refers_closes_or_loads_anything(text: str) -> None:
    quiet = escape.document(text).text
    assert acts(quiet) == []
    assert active_markup(quiet) == ()


@given(HOSTILE)
@settings(max_examples=20, deadline=None)
def test_what_follows_a_document_is_not_swallowed_by_it(text: str) -> None:
    after = elements(f"{escape.document(text).text}\n\n<hr>\n\nLAST `x`\n", "p", "hr")
    assert [each.tag for each in after[-2:]] == ["hr", "p"]
    assert "LAST" in "".join(after[-1].itertext())


@given(HOSTILE)
@settings(max_examples=6, deadline=None)
def test_no_line_of_words_acts_or_leaves_its_cell(text: str) -> None:
    for said in (escape.line(text), escape.plain(text), escape.code(text)):
        assert "\n" not in said
        for before in ("- x ", "- ", "> - ", "", "x\n"):
            page = f"{before}{said}\n\nLAST\n"
            assert acts(page) == []
            assert [
                each.text for each in elements(page, "p", "h1", "h2", "hr", "pre", "ol", "table")
            ][-1] == "LAST", page
            assert not elements(page, "h1", "h2", "hr", "pre", "ol", "table"), page
    table = f"| a | b |\n| --- | --- |\n| {escape.cell(text)} | {escape.code_cell(text)} |\n"
    assert [each.tag for each in elements(table, "td")] == ["td", "td"]
    assert acts(table) == []


DRAWN = st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")).filter(
    lambda char: not is_suspect(char)
)
"""Some letters are never drawn, as the fillers of Hangul: those are removed."""


@given(st.text(alphabet=DRAWN, max_size=60))
@settings(max_examples=20, deadline=None)
def test_every_sign_of_a_title_is_shown(text: str) -> None:
    plain = " ".join(text.replace("`", "'").split())
    assert shown(f"x {escape.plain(plain)} x") == " ".join(
        f"x {plain} x".replace("\u200b", "").split()
    )


@pytest.mark.parametrize(("written", "seen"), ROWS["what_a_reader_sees_stays"])
def test_what_a_reader_sees_stays_the_same(written: str, seen: str) -> None:
    quiet = escape.document(written).text
    assert shown(quiet) == seen
    assert acts(quiet) == []


def test_a_picture_becomes_a_link_to_it() -> None:
    quiet = escape.document("![plan](https://evil.example/p.png?secret)").text
    assert elements(quiet, "img") == []
    assert elements(quiet, "a")[0].get("href") == "https://evil.example/p.png?secret"


def test_a_link_to_an_issue_still_leads_there_and_leaves_no_note() -> None:
    links = "[x](https://github.com/o/r/issues/1) [y](<https://github.com/o/r/issues/2>)"
    threads = f"{links} https://github.com/o/r/pull/3 www.github.com/o/r/pull/4"
    hrefs = [each.get("href") for each in elements(escape.document(threads).text, "a")]
    assert hrefs == [
        f"https://redirect.github.com/o/r/{path}"
        for path in ("issues/1", "issues/2", "pull/3", "pull/4")
    ]


def test_a_company_s_own_github_gets_no_note_either() -> None:
    quiet = escape.document("https://git.example.org/o/r/issues/1").text
    assert elements(quiet, "a")[0].get("href") == "https://git.example.org/o/r/%69ssues/1"


def test_a_diagram_is_shown_as_it_is_written_since_drawing_can_leave_words_out() -> None:
    quiet = escape.document("```mermaid\ngraph LR; a-->b %% approve this\n```").text
    assert "%% approve this" in shown(quiet)
    assert "mermaid" not in quiet


def test_a_block_left_open_is_closed() -> None:
    assert escape.document("# T\n\n~~~py\nx = 1").text == "# T\n\n```py\nx = 1\n```"


def test_code_keeps_every_sign() -> None:
    code = "```py\n@property\ndef f(x): # fixes #1 <b>\n    return f'{x}'\n```"
    assert (
        escape.document(f"@ann\n\n{code}\n\n@bob").text == f"@&#8203;ann\n\n{code}\n\n@&#8203;bob"
    )


def test_hidden_text_is_left_out_and_counted() -> None:
    cleaned = escape.document("Approve this.\n\n<!-- and that -->\n\nEnd\u200b.")
    assert "and that" not in cleaned.text
    assert sum(removal.count for removal in cleaned.removals) == 2


def test_a_title_of_a_pull_request_refers_to_nothing() -> None:
    assert (
        escape.heading("Fixes #7: https://github.com/o/r/issues/8")
        == "Fixes 7: github.com/o/r/issues/8"
    )


@pytest.mark.parametrize(("title", "shown"), ROWS["a_title_makes_no_program"])
def test_a_title_makes_no_program_act(title: str, shown: str) -> None:
    assert escape.heading(title) == shown
    assert escape.heading(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Then `[skip ci]` and [ci skip].", "Then `(skip ci)` and (ci skip)."),
        ("```\n[no ci]\n```\n***NO_CI***", "```\n(no ci)\n```\n(NO_CI)"),
        ("skip-checks: true", "skip-checks true"),
        ("`[None]`, `[node]`, [note] and [nothing]", None),
        ("[skip this](https://example.org) [Bug] - [x] done", None),
    ],
)
def test_the_text_of_a_pull_request_tells_no_ci_to_skip_it(text: str, shown: str | None) -> None:
    assert escape.without_ci_signs(text) == (text if shown is None else shown)


def test_the_longest_title_is_read_in_a_moment() -> None:
    began = time.process_time()
    for title in (
        "[" + "skip" * 50_000,
        "#" * 200_000 + "7",
        "[skip]" * 50_000,
        "@#" * 100_000 + "1",
    ):
        escape.heading(title)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("unit", sampled(["[", "\\", "![", "[a](", "<\\", "\\<", "a\\"], 7))
def test_the_longest_document_of_one_sign_is_read_in_a_moment(unit: str) -> None:
    began = time.process_time()
    shown = escape.document(f"Begins.\n\n{unit * (200_000 // len(unit))}\n\nEnds.")
    assert shown.text.removeprefix("```\n").startswith("Begins.")
    # One whose time grew with the square of the length would take hours.
    assert time.process_time() - began < 20
