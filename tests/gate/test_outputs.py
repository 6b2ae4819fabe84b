"""What a step hands on cannot be forged by what is in it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_bot.forge import show_error, show_notice, show_warning, write_outputs, write_summary
from forge_bot.gate.messages import plain, shown
from tests.gate.conftest import read_outputs


@pytest.mark.parametrize(
    "value",
    ["", "x", "x\nproceed=true", "a<<EOF\nb\nEOF", "end-\nend-", "\n\n", "📦 ünï", "::error::x"],
)
def test_values_come_out_as_they_went_in(tmp_path: Path, value: str) -> None:
    path = tmp_path / "output"
    for _ in range(2):
        write_outputs(str(path), {"before": "no", "odd": value, "proceed": "false"})
    assert read_outputs(path.read_text(encoding="utf-8")) == {
        "before": "no",
        "odd": value,
        "proceed": "false",
    }
    delimiters = [
        line.partition("<<")[2]
        for line in path.read_text().splitlines()
        if line.startswith(("before<<", "odd<<end-", "proceed<<"))
    ]
    assert len(set(delimiters)) == len(delimiters) == 6


def test_a_message_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_notice("100%\n::set-output name=proceed::true\r::stop")
    show_warning("a")
    show_error("b")
    show_error("c", "a,line=9::%\n.py", 3)
    assert capsys.readouterr().out.splitlines() == [
        "::notice title=forge-bot::100%25%0A::set-output name=proceed::true%0D::stop",
        "::warning title=forge-bot::a",
        "::error title=forge-bot::b",
        "::error title=forge-bot,file=a%2Cline=9%3A%3A%25%0A.py,line=3::c",
    ]


def test_without_a_summary_nothing_is_written() -> None:
    write_summary("", "text")


@given(st.text(max_size=300))
def test_words_of_strangers_are_shown_on_one_line_and_not_for_long(text: str) -> None:
    assert plain(text).isprintable()
    assert len(plain(text)) <= 200
    assert shown(text)[1:-1].count("`") == 0
    assert shown(text).isprintable()
    assert len(shown(text)) <= 62


def test_emoji_and_typographic_signs_are_shown_as_they_were_written() -> None:
    assert shown("/approve 🚀 ❤\ufe0f “é” … 好") == "`/approve 🚀 ❤ “é” … 好`"
