"""The index of a history as one SQLite file. A question reads the entries of its own words only."""

import math
import sqlite3
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar, overload

from forge_bot.knowledge.history import CHARACTERS_READ, History
from forge_bot.knowledge.kept_postings import Database, Postings
from forge_bot.knowledge.kept_themes import FINDINGS, STUCK, KeptThemes
from forge_bot.knowledge.past_runs import PastRun
from forge_bot.knowledge.repeated_remarks import Themes
from forge_bot.knowledge.search_index import Ranking, WordValue
from forge_bot.values import Usage

TABLES = """
CREATE TABLE header (value TEXT);
CREATE TABLE columns (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE runs (
    place INTEGER PRIMARY KEY, name TEXT, tree TEXT, date TEXT, shown TEXT, before TEXT
);
CREATE TABLE others (name TEXT, tree TEXT, PRIMARY KEY (name, tree)) WITHOUT ROWID;
CREATE TABLE themes (
    part TEXT, number INTEGER, print TEXT, told TEXT, PRIMARY KEY (part, number)
) WITHOUT ROWID;
CREATE TABLE postings (part TEXT, key TEXT, numbers BLOB, counts BLOB, PRIMARY KEY (part, key));
"""
RUNS, LENGTHS = "runs", "lengths"
_LEFT_OUT = {"findings": (), "friction": (), "rejections": (), "phases": (), "usage": Usage()}


def shown_of(run: PastRun) -> str:
    """Return the displayed fields of a run, and the source of its words."""
    short = run.replace(**_LEFT_OUT, request=run.request[:CHARACTERS_READ])
    return short.model_dump_json(exclude_defaults=True)


def opened(path: Path) -> Database:
    """Open a file that is never changed. Raises sqlite3.Error if it has another format."""
    return Database(sqlite3.connect(address_of(path), uri=True, check_same_thread=False))


def address_of(path: Path) -> str:
    """Return the address by which a file is read that is never changed: it needs neither locks nor
    a journal, which a read-only folder could not hold.
    """
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


_Row = TypeVar("_Row")


class _Rows(Sequence[_Row]):
    """Rows by their place; each is read when it is asked for, and then remembered."""

    def __init__(self, size: int, read: Callable[[int], _Row]) -> None:
        self._size, self._read = size, read
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
            self._known[index] = self._read(range(self._size)[index])
        return self._known[index]


# The constants of rank-bm25, whose BM25Plus says what a score is.
_K1, _B, _DELTA = 1.5, 0.75, 1


class _KeptWords:
    """The words of past runs with their values; each is worked out when it is first asked for."""

    def __init__(self, database: Database) -> None:
        self._postings = Postings(database, RUNS)
        self._lengths = database.column(LENGTHS)
        self.size = len(self._lengths)
        self._spoken = sum(length > 0 for length in self._lengths)
        self._mean = sum(self._lengths) / max(self._spoken, 1)
        self._values: dict[str, WordValue] = {}

    def idf(self, word: str) -> float | None:
        """Return the inverse document frequency of a word, None if no run has it."""
        held = len(self._postings.numbers(word))
        return math.log((self._spoken + 1) / held) if held else None

    def value(self, word: str) -> WordValue:
        """Return the value of a word that a run has."""
        if word not in self._values:
            self._values[word] = self._value(word)
        return self._values[word]

    def _value(self, word: str) -> WordValue:
        import numpy as np

        idf, (numbers, counts) = self.idf(word), self._postings.held(word)
        if idf is None:
            raise KeyError(word)
        places, count = np.asarray(numbers, dtype=np.intp), np.asarray(counts)
        length = _K1 * (1 - _B + _B * np.asarray(self._lengths)[places] / self._mean)
        scores = idf * (_DELTA + count * (_K1 + 1) / (length + count))
        # The index counts from the oldest run, a history from the newest.
        return WordValue(idf, self.size - 1 - places, scores)


class KeptHistory(History):
    """Past runs that were indexed before. Raises sqlite3.Error if the file is none of ours."""

    def __init__(self, database: Database) -> None:
        super().__init__(())
        self._database = database
        size = len(database.column(LENGTHS))
        self.runs = _Rows(size, lambda index: self._run(size - 1 - index))

    def _run(self, place: int) -> PastRun:
        query = "SELECT shown FROM runs WHERE place = ?"
        return PastRun.model_validate_json(self._database.row(query, place)[0])

    @cached_property
    def ranking(self) -> Ranking:
        """The index for runs like a text."""
        return Ranking(_KeptWords(self._database))

    @cached_property
    def findings(self) -> Themes:
        """The index for remarks of people and reviewers."""
        return self._kept(FINDINGS)

    @cached_property
    def stuck(self) -> Themes:
        """The index for the points where runs got stuck."""
        return self._kept(STUCK)

    def _kept(self, part: str) -> Themes:
        store = KeptThemes(self._database, part)
        return Themes(store, len(self.runs), store.kept_order)
