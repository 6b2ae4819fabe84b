"""The files that were read before, by git's blob ids, in one SQLite file beside git's own data.

Everything in it is derived: it may be deleted at any time, and where it is broken or cannot be
written, files are read anew.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

_FORM = 2
"""The number of the form of the file. It grows when its tables change."""
_MOST_FACTS = 300_000
_MOST_GRAPHS = 8
_AT_ONCE = 500
_BUSY = 2.0
_TABLES = (
    "CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS graphs (key TEXT PRIMARY KEY, value BLOB NOT NULL)",
)
_T = TypeVar("_T")


class GraphCache:
    """Texts by keys, in two tables. A failure to read is an empty answer, one to write nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def facts(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the kept facts of those of the keys that are known."""

        def read(store: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                # Question marks only.
                asked = f"SELECT key, value FROM facts WHERE key IN ({marks})"  # noqa: S608
                found.update(store.execute(asked, part))
            return found

        return self._with(read, {}) if keys else {}

    def count(self, keys: Sequence[str]) -> int:
        """Return how many of the keys are known."""

        def read(store: sqlite3.Connection) -> int:
            known = {key for (key,) in store.execute("SELECT key FROM facts")}
            return sum(key in known for key in keys)

        return self._with(read, 0)

    def keep_facts(self, facts: Mapping[str, bytes]) -> None:
        """Keep facts; the oldest go when there are too many."""
        self._keep("facts", facts.items(), _MOST_FACTS)

    def graph(self, key: str) -> bytes | None:
        """Return a kept graph."""

        def read(store: sqlite3.Connection) -> bytes | None:
            row = store.execute("SELECT value FROM graphs WHERE key = ?", (key,)).fetchone()
            return row[0] if row else None

        return self._with(read, None)

    def graph_like(self, beginning: str) -> bytes | None:
        """Return the newest kept graph whose key begins so."""

        def read(store: sqlite3.Connection) -> bytes | None:
            row = store.execute(
                "SELECT value FROM graphs WHERE substr(key, 1, ?) = ? ORDER BY rowid DESC LIMIT 1",
                (len(beginning), beginning),
            ).fetchone()
            return row[0] if row else None

        return self._with(read, None)

    def keep_graph(self, key: str, value: bytes) -> None:
        """Keep a graph, and only the newest few."""
        self._keep("graphs", [(key, value)], _MOST_GRAPHS)

    def _keep(self, name: str, rows: Iterable[tuple[str, bytes]], most: int) -> None:
        def write(store: sqlite3.Connection) -> None:
            with store:
                # Our own table.
                kept = f"INSERT OR REPLACE INTO {name} VALUES (?, ?)"  # noqa: S608
                store.executemany(kept, rows)
                store.execute(
                    f"DELETE FROM {name} WHERE rowid <="  # noqa: S608 - our own table
                    f" (SELECT max(rowid) FROM {name}) - ?",
                    (most,),
                )

        self._with(write, None)

    def _with(self, work: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        try:
            return self._once(work)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                return otherwise
            # What cannot be read as a database is none of use to anybody.
            with suppress(OSError):
                self._file.unlink()
        except OSError:
            return otherwise
        try:
            return self._once(work)
        except (sqlite3.Error, OSError):
            return otherwise

    def _once(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._file, timeout=_BUSY)) as store:
            if store.execute("PRAGMA user_version").fetchone()[0] != _FORM:
                with store:
                    for name in ("facts", "graphs"):
                        store.execute(f"DROP TABLE IF EXISTS {name}")
                    for table in _TABLES:
                        store.execute(table)
                    store.execute(f"PRAGMA user_version = {_FORM}")
            return work(store)
