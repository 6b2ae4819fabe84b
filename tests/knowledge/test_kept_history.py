"""A history that is kept in a file answers as the one it was made of."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_bot.knowledge.growing_history import GrowingHistory
from forge_bot.knowledge.history import History, RunKey, newest_first
from forge_bot.knowledge.kept_history import KeptHistory, opened
from forge_bot.knowledge.past_runs import PastRun
from forge_bot.values import Finding, Severity
from tests.fakes.made_up import MadeUp
from tests.fakes.steps import calls_in

KIND = "an index of these tests"
SOURCE = MadeUp(5)
RUNS = [SOURCE.run(number) for number in range(12)]
SAID = ("Missing error check in the loader", "The loader lacks an error check", "Names are unclear")
"""Some of the runs say the same, also in other words, and on files."""
ALIKE = [
    run.model_copy(
        update={
            "findings": (
                *run.findings,
                ("phase-6", Finding(severity=Severity.MINOR, description=SAID[place % 3])),
                (
                    f"phase-{place % 2}",
                    Finding(
                        severity=Severity.MAJOR,
                        description=f"Error is dropped in src/io.py and part{place % 4}.py",
                    ),
                ),
            )
        }
    )
    for place, run in enumerate(RUNS)
]


def keyed(run: PastRun) -> RunKey:
    return RunKey(run.name, f"tree of {run.name}", run.date)


def became(index: GrowingHistory, runs: Sequence[PastRun]) -> GrowingHistory:
    """The index after it was made that of these runs."""
    by_key = {keyed(run): run for run in runs}
    order = newest_first(by_key)[::-1]
    shared = index.shared(order)
    index.cut(shared)
    for key in order[shared:]:
        index.append(key, by_key[key])
    return index


def packed(index: GrowingHistory, path: Path) -> Path:
    """The file of an index."""
    path.unlink(missing_ok=True)
    index.save()
    index.pack(path)
    return path


def again(index: GrowingHistory, path: Path) -> GrowingHistory:
    """The index, written and read."""
    read = GrowingHistory.read(packed(index, path), KIND)
    assert read is not None
    return read


def content(index: GrowingHistory, path: Path) -> list[str]:
    """All rows of an index, as SQL."""
    with closing(sqlite3.connect(packed(index, path))) as database:
        return sorted(database.iterdump())


def kept(folder: Path, history: History) -> KeptHistory:
    index = became(GrowingHistory.begun(KIND), history.runs)
    return KeptHistory(opened(packed(index, folder / "history.sqlite")))


@settings(deadline=None, max_examples=10)
@given(st.lists(st.sets(st.sampled_from(range(len(ALIKE)))), min_size=1, max_size=4))
def test_an_index_is_the_same_whatever_way_it_came_to_be(steps: list[set[int]]) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "index"
        index = GrowingHistory.begun(KIND)
        for places in steps:
            index = again(became(index, [ALIKE[place] for place in places]), path)
        at_once = became(GrowingHistory.begun(KIND), [ALIKE[place] for place in steps[-1]])
        assert content(index, path) == content(at_once, path)


def test_one_more_run_takes_no_more_steps_among_many_than_among_few(tmp_path: Path) -> None:
    source = MadeUp()
    runs = newest_first([source.run(number) for number in range(1_200)])[::-1]
    steps: list[int] = []
    for size in (120, 1_199):
        index = again(became(GrowingHistory.begun(KIND), runs[:size]), tmp_path / "index")
        steps.append(calls_in(lambda index=index: index.append(keyed(runs[-1]), runs[-1])))
    assert steps[1] < 1.5 * steps[0], steps


def test_an_index_of_another_kind_is_not_read(tmp_path: Path) -> None:
    path = packed(GrowingHistory.begun(KIND), tmp_path / "index")
    assert GrowingHistory.read(path, KIND) is not None
    assert GrowingHistory.read(path, "another") is None


@pytest.mark.parametrize("size", [0, 1, 2, 150])
def test_every_question_is_answered_as_before(tmp_path: Path, size: int) -> None:
    source = MadeUp()
    runs = [source.run(number) for number in range(size)]
    history = History(runs)
    later = kept(tmp_path, history)
    for number in range(20):
        text = source.text(number * 8)
        files = runs[number % size].files if size and number % 3 else ()
        own = runs[number % size].name if size and number % 2 else ""
        for _ in range(2):
            assert later.recall(text, files, own) == history.recall(text, files, own)
            assert later.similar(text, 7, own) == history.similar(text, 7, own)
    assert later.patterns("", (), 1_000) == history.patterns("", (), 1_000)
    assert later.friction("", 1_000) == history.friction("", 1_000)


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
    later = kept(tmp_path, history)
    for text in (
        odd.title,
        odd.request,
        "エラーを無視",
        "Grüße fehlen",
        "τεστ αργούν",
        "drop table",
    ):
        assert later.recall(text, ("src/ä.py",)) == history.recall(text, ("src/ä.py",))
    assert later.patterns("", ())[0].by_person


def test_of_a_run_only_what_is_shown_is_kept(tmp_path: Path) -> None:
    source = MadeUp()
    runs = [source.run(number) for number in range(3)]
    later = kept(tmp_path, History(runs))
    assert {run.name for run in later.runs} == {run.name for run in runs}
    assert all(run.findings == run.friction == () for run in later.runs)
