"""A database of one index, and the lists of numbers that it has under words."""

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from weakref import finalize

from forge_bot.knowledge.repeated_remarks import insert_once

_NUMBERS, _COUNTS = "i", "H"
_MOST_COUNTED = 65_535


class Database:
    """A database that is asked by one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        finalize(self, connection.close)
        self._lock = Lock()

    def row(self, query: str, *values: object) -> tuple[Any, ...]:
        """Return the first row of an answer; empty without one."""
        return next(iter(self.rows(query, *values)), ())

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of an answer, or change something."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def change(self, query: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Do the same with each of some rows."""
        with self._lock:
            self._connection.executemany(query, rows)

    def column(self, name: str) -> "array[int]":
        """Return a stored column of numbers; an empty one if none is stored."""
        return array(_NUMBERS, *self.row("SELECT value FROM columns WHERE name = ?", name))

    def put_column(self, name: str, numbers: "array[int]") -> None:
        """Keep numbers as a whole."""
        self.change("REPLACE INTO columns VALUES (?, ?)", [(name, numbers.tobytes())])

    def pack(self, path: Path) -> None:
        """Write all of this into an empty file."""
        with self._lock, closing(sqlite3.connect(path)) as file:
            self._connection.commit()
            # A file that is torn is none, so nothing has to be taken back.
            file.execute("PRAGMA journal_mode = OFF")
            file.execute("PRAGMA synchronous = OFF")
            self._connection.backup(file)


class Held(NamedTuple):
    """Ascending numbers, and of each how often it has the key, where that is counted."""

    numbers: "array[int]"
    counts: "array[int]"


class Postings:
    """The numbers under each key of one part. A key is read when it is first asked for; changes
    are kept by `save`.
    """

    def __init__(self, database: Database, part: str) -> None:
        self._database, self._part = database, part
        self._known: dict[str, Held] = {}
        self._changed: set[str] = set()
        found = database.row("SELECT 1 FROM postings WHERE part = ? LIMIT 1", part)
        self._began_empty = not found

    def held(self, key: str) -> Held:
        """Return the value of a key, which may be empty."""
        if key not in self._known:
            numbers, counts = self._kept(key)
            self._known[key] = Held(array(_NUMBERS, numbers), array(_COUNTS, counts))
        return self._known[key]

    def _kept(self, key: str) -> tuple[bytes, bytes]:
        # What was put into an empty database since is known, and most keys of a new index are new.
        if self._began_empty:
            return b"", b""
        query = "SELECT numbers, counts FROM postings WHERE part = ? AND key = ?"
        numbers, counts = self._database.row(query, self._part, key) or (b"", b"")
        return numbers, counts

    def numbers(self, key: str) -> "array[int]":
        """Return the numbers under a key, ascending."""
        return (self._known.get(key) or self.held(key))[0]

    def append(self, number: int, counted: Mapping[str, int]) -> None:
        """Put a number that is greater than all others under its keys."""
        known = self._known
        for key, count in counted.items():
            numbers, counts = known.get(key) or self.held(key)
            numbers.append(number)
            counts.append(min(count, _MOST_COUNTED))
        self._changed.update(counted)

    def add(self, key: str, number: int) -> None:
        """Put a number under a key, unless it is there."""
        numbers = self.numbers(key)
        # Mostly it is a new one, which is the greatest.
        if not numbers or numbers[-1] < number:
            numbers.append(number)
            self._changed.add(key)
        elif insert_once(numbers, number):
            self._changed.add(key)

    def cut(self, key: str, size: int) -> None:
        """Take away the numbers under a key that are not below a size."""
        numbers, counts = self.held(key)
        end = bisect_left(numbers, size)
        del numbers[end:], counts[end:]
        self._changed.add(key)

    def drop(self, key: str, number: int) -> None:
        """Take away one number under a key."""
        self.numbers(key).remove(number)
        self._changed.add(key)

    def save(self) -> None:
        """Store the changes."""
        changed = sorted(self._changed)
        self._changed.clear()
        held = [(key, *self._known[key]) for key in changed]
        gone = [(self._part, key) for key, numbers, _ in held if not numbers]
        self._database.change("DELETE FROM postings WHERE part = ? AND key = ?", gone)
        self._database.change(
            "REPLACE INTO postings VALUES (?, ?, ?, ?)",
            (
                (self._part, key, numbers.tobytes(), counts.tobytes())
                for key, numbers, counts in held
                if numbers
            ),
        )
