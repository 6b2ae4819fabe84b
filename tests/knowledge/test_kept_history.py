"""A history that is kept in a file answers as the one it was made of."""

from pathlib import Path

import pytest

from forge_bot.knowledge import History
from forge_bot.knowledge.kept_history import KeptHistory, packed_history
from forge_bot.values import Finding, Severity
from tests.fakes.made_up import MadeUp


def kept(folder: Path, history: History) -> KeptHistory:
    path = folder / "history.sqlite"
    path.write_bytes(packed_history(history))
    return KeptHistory(path)


@pytest.mark.parametrize("size", [0, 1, 2, 150])
def test_every_question_is_answered_as_before(tmp_path: Path, size: int) -> None:
    source = MadeUp()
    runs = [source.run(number) for number in range(size)]
    history = History(runs)
    again = kept(tmp_path, history)
    for number in range(20):
        text = source.text(number * 8)
        files = runs[number % size].files if size and number % 3 else ()
        own = runs[number % size].name if size and number % 2 else ""
        for _ in range(2):
            assert again.recall(text, files, own) == history.recall(text, files, own)
            assert again.similar(text, 7, own) == history.similar(text, 7, own)
    assert again.patterns("", (), 1_000) == history.patterns("", (), 1_000)
    assert again.friction("", 1_000) == history.friction("", 1_000)


def test_words_of_every_language_and_remarks_of_people_survive(tmp_path: Path) -> None:
    source = MadeUp()
    odd = source.run(0).model_copy(
        update={
            "title": "当番表に「前日」がない 🙂 O'Brien; DROP TABLE runs",
            "request": "Ünïcode \x00 and a lone \ufffd sign",
            "outcome": "abandoned",
            "findings": (
                ("phase-6", Finding(severity=Severity.MINOR, description="エラーを無視する")),
            ),
            "rejections": (("checkpoint-a", "Nicht so: Grüße fehlen in src/ä.py"),),
            "friction": ("Τα τεστ αργούν",),
        }
    )
    history = History([odd, *(source.run(number) for number in range(1, 4))])
    again = kept(tmp_path, history)
    for text in (
        odd.title,
        odd.request,
        "エラーを無視",
        "Grüße fehlen",
        "τεστ αργούν",
        "drop table",
    ):
        assert again.recall(text, ("src/ä.py",)) == history.recall(text, ("src/ä.py",))
    assert again.patterns("", ())[0].by_person


def test_of_a_run_only_what_is_shown_is_kept(tmp_path: Path) -> None:
    source = MadeUp()
    runs = [source.run(number) for number in range(3)]
    again = kept(tmp_path, History(runs))
    assert {run.name for run in again.runs} == {run.name for run in runs}
    assert all(run.findings == run.friction == () for run in again.runs)
