"""Room on the disks that a run writes to. A full disk is reported as such wherever it shows."""

import errno
import shutil
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from forge_bot.errors import DiskFull, GitFailed

LEAST = 1 << 20
"""Bytes; a disk with less room than this counts as full: git, a report or an answer may no longer
fit."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_WORDS = ("No space left on device", "Out of diskspace", "Disk quota exceeded")


@contextmanager
def told_when_full(folders: Sequence[Path]) -> Generator[None]:
    """Turn whatever a full disk leads to inside the block into DiskFull, which names those of the
    folders that have no room.
    """
    try:
        yield
    except DiskFull:
        raise
    except Exception as error:
        if not is_full(error):
            raise
        raise full(folders, str(error)) from error


def is_full(error: BaseException) -> bool:
    """Return whether an error, or one of its causes, comes from a full disk: by its number, or by
    git's output.
    """
    return any(isinstance(cause, DiskFull) or _is_full(cause) for cause in _chain(error))


def full(folders: Sequence[Path], words: str) -> DiskFull:
    """The error for a full disk, with the folders without room and the words that were said."""
    known = dict.fromkeys(
        str(folder) for folder in (*folders, Path(tempfile.gettempdir())) if without_room(folder)
    )
    disk = f"the disk of {', '.join(known)}" if known else "a disk"
    return DiskFull(f"No room is left on {disk}. {words}")


def without_room(folder: Path) -> bool:
    """Return whether the disk of a folder (or of the nearest one above it that exists) is full."""
    place = next((parent for parent in (folder, *folder.parents) if parent.exists()), None)
    return place is not None and shutil.disk_usage(place).free < LEAST


def _is_full(error: BaseException) -> bool:
    if isinstance(error, GitFailed):
        return any(words in error.output for words in _WORDS)
    return isinstance(error, OSError) and error.errno in _FULL


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
