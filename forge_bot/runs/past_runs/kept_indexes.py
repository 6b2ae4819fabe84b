"""The files with indexes of past runs. The name of each has a digest of its runs and its bytes, so
a torn file is recognised.
"""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge_bot.errors import WriteFailed
from forge_bot.knowledge.history import History
from forge_bot.store.atomic_files import half_written, put_in_place
from forge_bot.store.kept_files import leave_newest, newest

if TYPE_CHECKING:
    from forge_bot.knowledge.growing_history import GrowingHistory

_KEPT = 2
_ANY = "history-*.sqlite"
_FEW = 100
"""An index that lacks so few runs is near enough: no other is read."""


def has_index(folder: Path) -> bool:
    """Return whether an index is kept, of whatever past runs."""
    return next(folder.glob(_ANY), None) is not None


def kept_index(folder: Path, told: str) -> History | None:
    """Return the index of exactly these past runs; None if there is none, or the file is broken."""
    import sqlite3

    from forge_bot.knowledge.kept_history import KeptHistory, opened

    for path in folder.glob(f"history-{told}-*.sqlite"):
        with suppress(OSError, ValueError, sqlite3.Error):
            if path.name == _name(told, path):
                history = KeptHistory(opened(path))
                # The ones that were asked last stay.
                with suppress(OSError):
                    os.utime(path)
                return history
    return None


def nearest_index(folder: Path, header: str, wanted: Sequence[tuple[str, str]]) -> "GrowingHistory":
    """Return the stored index of this kind that has the most of these runs; an empty one if none is
    stored.
    """
    import sqlite3

    from forge_bot.knowledge.growing_history import GrowingHistory

    most, nearest = 0, None
    looked_for = {*wanted}
    for path in newest(folder, _ANY):
        with suppress(OSError, ValueError, sqlite3.Error):
            if path.name != _name(path.name.split("-")[1], path):
                continue
            index = GrowingHistory.read(path, header)
            held = index.held(looked_for) if index is not None else 0
            if held > most:
                most, nearest = held, index
            if len(wanted) - held <= _FEW:
                break
    return nearest or GrowingHistory.begun(header)


def keep_index(folder: Path, told: str, index: "GrowingHistory") -> History:
    """Write an index atomically, and remove indexes without recent use; return the index. If
    nothing can be written, the index has to be made again next time.
    """
    import sqlite3

    from forge_bot.knowledge.kept_history import KeptHistory, opened

    index.save()
    with (
        suppress(WriteFailed, OSError, sqlite3.Error),
        half_written(folder / f"history-{told}") as half,
    ):
        index.pack(half)
        path = folder / _name(told, half)
        put_in_place(half, path)
        leave_newest(folder, _ANY, path, _KEPT)
        return KeptHistory(opened(path))
    return index.history()


def _name(told: str, path: Path) -> str:
    """Return a file name with digests of an index's sources and of its bytes."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"history-{told}-{digest[:20]}.sqlite"
