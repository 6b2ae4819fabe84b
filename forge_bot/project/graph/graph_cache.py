"""The facts of files that were read before, by git's blob ids, in one SQLite file.

Everything in it is derived: it may be deleted at any time, and where it is broken or cannot be
written, files are read anew.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

_FORM = 3
"""The number of the form of the facts. It grows when files are read differently."""
_MOST = 300_000
_AT_ONCE = 500
_BUSY = 2.0
_T = TypeVar("_T")


class FactsCache:
    """Facts by keys. A failure to read is an empty answer, one to write nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def facts(self, keys: Sequence[str]) -> dict[str, bytes]:
        def read(store: sqlite3.Connection) -> dict[str, bytes]:
            facts: dict[str, bytes] = {}
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                # Question marks only.
                asked = f"SELECT key, value FROM facts WHERE key IN ({marks})"  # noqa: S608
                facts.update(store.execute(asked, part))
            return facts

        return self._use(read, {}) if keys else {}

    def keep(self, facts: Mapping[str, bytes]) -> None:
        """Keep facts; the oldest go when there are too many."""

        def write(store: sqlite3.Connection) -> None:
            store.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())
            oldest = "(SELECT max(rowid) FROM facts) - ?"
            store.execute(f"DELETE FROM facts WHERE rowid <= {oldest}", (_MOST,))  # noqa: S608 - no input

        self._use(write, None)

    def _use(self, work: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._file, timeout=_BUSY)) as store, store:
                if store.execute("PRAGMA user_version").fetchone()[0] != _FORM:
                    store.execute("DROP TABLE IF EXISTS facts")
                    store.execute("CREATE TABLE facts (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
                    store.execute(f"PRAGMA user_version = {_FORM}")
                return work(store)
        except (sqlite3.OperationalError, OSError):
            return otherwise
        except sqlite3.DatabaseError:
            # What cannot be read as a database is of no use to anybody.
            with suppress(OSError):
                self._file.unlink()
            return otherwise
