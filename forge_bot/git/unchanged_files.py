"""Small files and folders of git that this process has read: they are read again where they have
changed.

A worker looks at the same thousand work trees for each of its runs, in several threads at once.
Each call of the system lets another thread in, so one call a file is a third of three.
"""

import os
import time
from typing import NamedTuple, TypeVar

_LONGEST = 65_536
"""Bytes of a file that names a commit, a folder or a reason."""

_SETTLED = 1_000_000_000
"""Nanoseconds after which a change of a file cannot have the time of the one before it."""

_MOST = 20_000
"""Files that are known at the same time."""

_Mark = tuple[int, int, int, int]

Kept = TypeVar("Kept")


class FolderEntry(NamedTuple):
    """What a folder holds under a name."""

    name: str
    is_folder: bool
    is_link: bool


_contents: dict[str, tuple[_Mark, bytes]] = {}
_entries: dict[str, tuple[_Mark, tuple[FolderEntry, ...]]] = {}


def content(file: str) -> bytes | None:
    """Return what a small file holds; None where there is none."""
    try:
        if (known := _contents.get(file)) is not None and known[0] == _mark(_seen(file)):
            return known[1]
        opened = os.open(file, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        seen = os.fstat(opened)
        data = os.read(opened, _LONGEST)
    except IsADirectoryError:
        return None
    finally:
        os.close(opened)
    _keep(_contents, file, seen, data)
    return data


def entries(folder: str) -> tuple[FolderEntry, ...]:
    """Return what a folder holds. Raises FileNotFoundError, NotADirectoryError."""
    seen = _seen(folder)
    if (known := _entries.get(folder)) is not None and known[0] == _mark(seen):
        return known[1]
    with os.scandir(folder) as there:
        found = tuple(
            FolderEntry(each.name, each.is_dir(follow_symlinks=False), each.is_symlink())
            for each in there
        )
    _keep(_entries, folder, seen, found)
    return found


def _seen(path: str) -> os.stat_result:
    # A Path for each of a thousand files takes longer than the look.
    return os.stat(path)  # noqa: PTH116


def _mark(seen: os.stat_result) -> _Mark:
    """Return what changes with the file: git puts a new one in the place of the old one."""
    return (seen.st_dev, seen.st_ino, seen.st_ctime_ns, seen.st_size)


def _keep(kept: dict[str, tuple[_Mark, Kept]], path: str, seen: os.stat_result, it: Kept) -> None:
    """Keep what was read, unless the next change could bear the same mark."""
    if time.time_ns() - seen.st_ctime_ns <= _SETTLED:
        return
    if len(kept) >= _MOST:
        kept.clear()
    kept[path] = (_mark(seen), it)
