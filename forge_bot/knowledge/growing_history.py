"""An index to which ended runs are added, and from which missing runs are removed."""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Self

from forge_bot.knowledge.history import RunKey, found_in, stuck_in, words_of
from forge_bot.knowledge.kept_history import (
    LENGTHS,
    RUNS,
    TABLES,
    KeptHistory,
    address_of,
    shown_of,
)
from forge_bot.knowledge.kept_postings import Database, Postings
from forge_bot.knowledge.kept_themes import FINDINGS, STUCK, KeptThemes
from forge_bot.knowledge.past_runs import PastRun
from forge_bot.knowledge.repeated_remarks import Themes
from forge_bot.knowledge.run_prints import RunPrints, run_prints

_AT_ONCE = 500
"""Runs whose themes are held in memory at the same time."""


class GrowingHistory:
    """An index that is not kept yet: runs are added at its end, from the oldest to the newest, and
    taken away there. It is the same whatever way it came to be.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        rows = database.rows("SELECT name, tree, date FROM runs ORDER BY place")
        self.runs = [RunKey(*row) for row in rows]
        self.others: set[tuple[str, str]] = {
            (name, tree) for name, tree in database.rows("SELECT name, tree FROM others")
        }
        self._lengths = database.column(LENGTHS)
        self._words = Postings(database, RUNS)
        self._themes = {part: KeptThemes(database, part) for part in (FINDINGS, STUCK)}

    @classmethod
    def begun(cls, header: str) -> Self:
        """Return an index without runs."""
        connection = _connected()
        connection.executescript(TABLES)
        connection.execute("INSERT INTO header VALUES (?)", (header,))
        return cls(Database(connection))

    @classmethod
    def read(cls, path: Path, header: str) -> Self | None:
        """Return an index that was kept; None if it is of another kind. Raises sqlite3.Error."""
        connection = _connected()
        with closing(sqlite3.connect(address_of(path), uri=True)) as file:
            file.backup(connection)
        database = Database(connection)
        return cls(database) if database.row("SELECT value FROM header") == (header,) else None

    def held(self, wanted: Collection[tuple[str, str]]) -> int:
        """Return how many of these runs it has, by folder and tree."""
        return sum((run.name, run.tree) in wanted for run in self.runs)

    def shared(self, wanted: Sequence[RunKey]) -> int:
        """Return how many of the first runs are the first of those that are wanted."""
        pairs = enumerate(zip(self.runs, wanted, strict=False))
        shortest = min(len(self.runs), len(wanted))
        return next((place for place, (one, other) in pairs if one != other), shortest)

    def cut(self, size: int) -> None:
        """Take away all runs but the first ones."""
        query = "SELECT shown, before FROM runs WHERE place >= ? ORDER BY place DESC"
        for shown, before in self._database.rows(query, size):
            run, found = PastRun.model_validate_json(shown), json.loads(before)
            self._lengths.pop()
            for word in {*words_of(run)}:
                self._words.cut(word, len(self._lengths))
            for part, themes in self._themes.items():
                themes.take_back(found[part])
        self._database.rows("DELETE FROM runs WHERE place >= ?", size)
        del self.runs[size:]

    def append(self, kept: RunKey, run: PastRun, prints: RunPrints | None = None) -> None:
        """Add the newest run, with the fingerprints of its remarks if they are known."""
        place = len(self.runs)
        prints = run_prints(run) if prints is None else prints
        counted = Counter(words_of(run))
        self._words.append(place, counted)
        self._lengths.append(counted.total())
        for themes, said in zip(self._themes.values(), (found_in, stuck_in), strict=True):
            themes.begin()
            merged = Themes(themes, place)
            for remark in said(place, run):
                merged.add(remark, prints[remark.text])
        found = {part: themes.found() for part, themes in self._themes.items()}
        row = (place, *kept, shown_of(run), json.dumps(found))
        self._database.change("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", [row])
        self.runs.append(kept)
        if not len(self.runs) % _AT_ONCE:
            for themes in self._themes.values():
                themes.rest()

    def pass_over(self, others: Iterable[tuple[str, str]]) -> None:
        """Remember folders that hold no run, instead of those that were remembered."""
        self._database.rows("DELETE FROM others")
        self._database.change("INSERT INTO others VALUES (?, ?)", sorted(others))

    def save(self) -> None:
        """Write the changes to the database."""
        self._words.save()
        self._database.put_column(LENGTHS, self._lengths)
        for themes in self._themes.values():
            themes.save()

    def pack(self, path: Path) -> None:
        """Write the database to an empty file, which is the one to keep."""
        self._database.pack(path)

    def history(self) -> KeptHistory:
        """Return the history as it is kept, after `save`."""
        return KeptHistory(self._database)


def _connected() -> sqlite3.Connection:
    """Return an empty database in a file that nobody else sees and that is gone with this process:
    in memory it would take as much as the index.
    """
    return sqlite3.connect("", check_same_thread=False)
