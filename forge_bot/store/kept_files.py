"""Values that take long to make, each kept in a file of its own that is named by what it was made
from; of each kind the ones that were asked for last.

What is kept may be deleted at any time. Where it is broken, of another version or cannot be
written, a value is made anew.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from forge_bot import __version__
from forge_bot.errors import WriteFailed
from forge_bot.store.atomic_files import write_whole

_Value = TypeVar("_Value")


def kept_or_made(
    folder: Path,
    kind: str,
    made_from: str,
    values: TypeAdapter[_Value],
    make: Callable[[], _Value],
    most: int = 8,
) -> _Value:
    """Return the value of a kind that was made from this, or make and keep it."""
    digest = hashlib.sha256(f"{__version__}\n{made_from}".encode("utf-8", "surrogateescape"))
    path = folder / f"{kind}-{digest.hexdigest()[:20]}.json"
    with suppress(OSError, ValueError):
        found = values.validate_json(path.read_bytes())
        # The ones that were asked for last stay.
        with suppress(OSError):
            os.utime(path)
        return found
    value = make()
    # Names that are no Unicode stand in no JSON; such a value is made each time.
    with suppress(WriteFailed, OSError, ValueError):
        write_whole(path, values.dump_json(value))
        leave_newest(folder, f"{kind}-*.json", path, most)
    return value


def leave_newest(folder: Path, pattern: str, path: Path, most: int) -> None:
    """Take away the files of a pattern but for `path` and those that were asked for last."""
    for other in [each for each in newest(folder, pattern) if each != path][most - 1 :]:
        other.unlink(missing_ok=True)


def newest(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a pattern, the one that was asked for last first."""
    return sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime, reverse=True)
