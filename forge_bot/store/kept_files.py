"""Values that take long to make, each kept in a file that is named after its sources. Of each kind
the most recently used ones are kept.

A kept file may be deleted at any time. If it is broken, of another version, or cannot be written,
the value is made again.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from forge_bot import __version__
from forge_bot.errors import WriteFailed
from forge_bot.store.atomic_files import write_whole

_Value = TypeVar("_Value")


class KeptFile(Generic[_Value]):
    """The file in a folder for the value of a kind that is made from this."""

    def __init__(
        self, folder: Path, kind: str, made_from: str, values: TypeAdapter[_Value], most: int = 8
    ) -> None:
        """Name the file. Of its kind `most` are kept."""
        digest = hashlib.sha256(f"{__version__}\n{made_from}".encode("utf-8", "surrogateescape"))
        self._path = folder / f"{kind}-{digest.hexdigest()[:20]}.json"
        self._alike = f"{kind}-*.json"
        self._values = values
        self._most = most

    def read(self) -> _Value | None:
        """Return the value, or None where none is kept."""
        try:
            found = self._values.validate_json(self._path.read_bytes())
        except (OSError, ValueError):
            return None
        # The ones that were asked for last stay.
        with suppress(OSError):
            os.utime(self._path)
        return found

    def write(self, value: _Value) -> None:
        """Keep the value. Names that are no Unicode stand in no JSON; such a value is not kept."""
        with suppress(WriteFailed, OSError, ValueError):
            write_whole(self._path, self._values.dump_json(value))
            leave_newest(self._path.parent, self._alike, self._path, self._most)


def leave_newest(folder: Path, pattern: str, path: Path, most: int) -> None:
    """Remove the files of a pattern, except `path` and those that were used last."""
    for other in [each for each in newest(folder, pattern) if each != path][most - 1 :]:
        other.unlink(missing_ok=True)


def newest(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a pattern, the one that was asked for last first."""
    return sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime, reverse=True)
