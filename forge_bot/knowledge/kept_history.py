"""The index of a history as one SQLite file: a question reads what its own words name, and nothing
of the other runs.
"""

import json
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast, overload
from weakref import finalize

from forge_bot.knowledge.fingerprints import Fingerprint
from forge_bot.knowledge.history import History
from forge_bot.knowledge.past_runs import PastRun
from forge_bot.knowledge.remarks import Theme, ThemeIndex, Themes, ThemeWeight
from forge_bot.knowledge.search_index import DocumentWords, Ranking, WordValue
from forge_bot.values import Severity, Usage

_RUNS, _FINDINGS, _STUCK = "runs", "findings", "stuck"
_FILES = "files of "
_TABLES = """
CREATE TABLE counts (part TEXT PRIMARY KEY, value BLOB);
CREATE TABLE runs (place INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE findings (place INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE stuck (place INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE words (
    part TEXT, word TEXT, idf REAL, places BLOB, scores BLOB, PRIMARY KEY (part, word)
);
"""
_PLACES, _NUMBERS = "i", "q"
_WORDS_OF_PART = "SELECT word FROM words WHERE part = ?"
_Word = tuple[str, str, float, bytes, bytes]


def packed_history(history: History) -> bytes:
    """Return the bytes of a file that answers as this history does."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(_TABLES)
        _pack_runs(database, history)
        _pack_themes(database, _FINDINGS, history.findings.index)
        _pack_themes(database, _STUCK, history.stuck.index)
        database.commit()
        return database.serialize()


def _pack_runs(database: sqlite3.Connection, history: History) -> None:
    values = cast("DocumentWords", history.ranking.values)
    _put_count(database, _RUNS, [values.size, len(history.runs)])
    _put_rows(database, _RUNS, map(_run_as_text, history.runs))
    _put_words(database, _ranked_words(values))


def _ranked_words(values: DocumentWords) -> Iterator[_Word]:
    for word in values:
        idf, holders, scores = values.value(word)
        places = array(_PLACES, holders.tolist()).tobytes()
        yield _RUNS, word, idf, places, scores.tobytes()


def _pack_themes(database: sqlite3.Connection, part: str, index: ThemeIndex) -> None:
    _put_count(database, part, [len(index.ranked), *index.everywhere])
    for column, name in enumerate(ThemeWeight._fields):
        _put_count(database, f"{name} of {part}", (int(each[column]) for each in index.weights))
    _put_rows(database, part, map(_theme_as_text, index.ranked))
    for named, ranks in ((part, index.by_word), (_FILES + part, index.by_file)):
        _put_words(
            database,
            ((named, word, 0.0, array(_PLACES, at).tobytes(), b"") for word, at in ranks.items()),
        )


def _put_count(database: sqlite3.Connection, part: str, numbers: Iterable[int]) -> None:
    database.execute("INSERT INTO counts VALUES (?, ?)", (part, array(_NUMBERS, numbers).tobytes()))


def _put_rows(database: sqlite3.Connection, part: str, texts: Iterable[str]) -> None:
    database.executemany(f"INSERT INTO {part} VALUES (?, ?)", enumerate(texts))  # noqa: S608 - a name of ours


def _put_words(database: sqlite3.Connection, words: Iterable[_Word]) -> None:
    database.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", words)


def _run_as_text(run: PastRun) -> str:
    """Return what is shown of a run, and what its words are taken from."""
    told = {"findings": (), "friction": (), "rejections": (), "phases": (), "usage": Usage()}
    return run.model_copy(update=told).model_dump_json()


def _theme_as_text(theme: Theme) -> str:
    words, names, files, unspaced = theme.fingerprint
    found = [sorted(words), sorted(names), sorted(files), unspaced]
    return json.dumps([*theme._replace(fingerprint=cast("Fingerprint", found))])


def _theme_of(text: str) -> Theme:
    said, severity, seen, newest, by, (words, names, files, unspaced), person = json.loads(text)
    print_ = Fingerprint(frozenset(words), frozenset(names), frozenset(files), unspaced)
    return Theme(said, Severity(severity), seen, newest, tuple(by), print_, person)


class _Opened:
    """The database, asked by one thread at a time."""

    def __init__(self, path: Path) -> None:
        # A file that is never changed needs neither locks nor a journal, which a read-only folder
        # could not hold.
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        self._database = sqlite3.connect(address, uri=True, check_same_thread=False)
        finalize(self, self._database.close)
        self._lock = Lock()

    def row(self, query: str, *values: object) -> tuple[Any, ...]:
        """Return the first row of an answer; empty without one."""
        return next(iter(self.rows(query, *values)), ())

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def numbers(self, part: str) -> "array[int]":
        return array(_NUMBERS, *self.row("SELECT value FROM counts WHERE part = ?", part))


_Row = TypeVar("_Row")


class _Rows(Sequence[_Row]):
    """The runs or themes of a file; each is read when it is asked for, and then remembered."""

    def __init__(self, opened: _Opened, part: str, size: int, read: Callable[[str], _Row]) -> None:
        self._opened, self._part, self._size, self._read = opened, part, size, read
        self._known: dict[int, _Row] = {}

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> _Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_Row]: ...
    def __getitem__(self, index: int | slice) -> _Row | Sequence[_Row]:
        if isinstance(index, slice):
            return [self[place] for place in range(self._size)[index]]
        if index not in self._known:
            query = f"SELECT value FROM {self._part} WHERE place = ?"  # noqa: S608 - a name of ours
            self._known[index] = self._read(self._opened.row(query, index)[0])
        return self._known[index]


class _Ranks(Mapping[str, Sequence[int]]):
    """The ranks of the themes under each word, or under each name of a file."""

    def __init__(self, opened: _Opened, part: str) -> None:
        self._opened, self._part = opened, part

    def __getitem__(self, word: str) -> Sequence[int]:
        found = self._opened.row(
            "SELECT places FROM words WHERE part = ? AND word = ?", self._part, word
        )
        if not found:
            raise KeyError(word)
        return array(_PLACES, found[0])

    def __iter__(self) -> Iterator[str]:
        return (word for (word,) in self._opened.rows(_WORDS_OF_PART, self._part))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _KeptWords:
    """The words of past runs with their values; each is read when it is first asked for."""

    def __init__(self, opened: _Opened, size: int) -> None:
        self._opened, self.size = opened, size
        self._known: dict[str, WordValue | None] = {}

    def idf(self, word: str) -> float | None:
        """Return the inverse document frequency of a word, None if no run has it."""
        if word not in self._known:
            self._known[word] = self._read(word)
        found = self._known[word]
        return None if found is None else found.idf

    def value(self, word: str) -> WordValue:
        """Return the value of a word that a run has."""
        self.idf(word)
        found = self._known[word]
        if found is None:
            raise KeyError(word)
        return found

    def _read(self, word: str) -> WordValue | None:
        import numpy as np

        query = "SELECT idf, places, scores FROM words WHERE part = ? AND word = ?"
        found = self._opened.row(query, _RUNS, word)
        if not found:
            return None
        idf, places, scores = found
        return WordValue(
            idf, np.frombuffer(places, dtype=np.int32).astype(np.intp), np.frombuffer(scores)
        )


class KeptHistory(History):
    """Past runs that were indexed before. Raises sqlite3.Error if the file is none of ours."""

    def __init__(self, path: Path) -> None:
        super().__init__(())
        self._opened = _Opened(path)
        self._size, count = self._opened.numbers(_RUNS)
        self.runs = _Rows(self._opened, _RUNS, count, PastRun.model_validate_json)

    @cached_property
    def ranking(self) -> Ranking:
        """The index for runs like a text."""
        return Ranking(_KeptWords(self._opened, self._size))

    @cached_property
    def findings(self) -> Themes:
        """The index for remarks of people and reviewers."""
        return self._themes(_FINDINGS)

    @cached_property
    def stuck(self) -> Themes:
        """The index for the points where runs got stuck."""
        return self._themes(_STUCK)

    def _themes(self, part: str) -> Themes:
        size, *everywhere = self._opened.numbers(part)
        columns = [self._opened.numbers(f"{name} of {part}") for name in ThemeWeight._fields]
        weights = [
            ThemeWeight(bool(person), seen, words)
            for person, seen, words in zip(*columns, strict=True)
        ]
        ranked = _Rows(self._opened, part, size, _theme_of)
        by_word, by_file = (_Ranks(self._opened, named) for named in (part, _FILES + part))
        return Themes(ThemeIndex(ranked, weights, everywhere, by_word, by_file))
