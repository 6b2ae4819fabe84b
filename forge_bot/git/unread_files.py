"""Files that git need not read, because the nanoseconds of their times say that they are unchanged.

Git compares seconds. After it has written many files, each of its next looks therefore reads those
that were written in the second of the index (racy-git(1)): of 20,000 files that takes 0.15 s of a
processor, and a checkout reads them twice.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge_bot.errors import ForgeError
from forge_bot.git.index_file import SECOND, IndexFile, NotPlain, WrittenFile
from forge_bot.git.own_files import INDEX
from forge_bot.git.revisions import head, own_folders

_LOW = 0xFFFF_FFFF
"""The bits of a size or an inode that an index keeps."""

_FEW = 20
"""A file of so many is read by git in less time than it takes to compare them all."""

_Times = tuple[int, int]


@contextmanager
def without_reading(folder: Path, index: str = INDEX) -> Generator[None]:
    """Keep git from reading files, during the block, that are as the index has them to the
    nanosecond. Where one may not be, git reads them all.

    Nothing but git may write into the work tree during the block: meanwhile the index has a later
    time.
    """
    with _opened(folder, index) as opened:
        before = _dated_later(folder, opened) if opened is not None else None
        try:
            yield
        finally:
            # Git may have put a new file in the place of this one, which then is nobody's.
            if opened is not None and before is not None:
                with suppress(OSError):
                    os.utime(opened, ns=before)


def know_unchanged(folder: Path) -> None:
    """Do the same for all that comes after, in a tree where somebody else may work: only if the
    second in which the files were written is over. Git sees what is written later by its time.
    """
    with _opened(folder, INDEX) as opened:
        if opened is not None:
            _dated_later(folder, opened, later_only=True)


@contextmanager
def _opened(folder: Path, index: str) -> Generator[int | None]:
    try:
        opened = os.open(own_folders(folder)[0] / index, os.O_RDONLY)
    except OSError:
        yield None
        return
    try:
        yield opened
    finally:
        os.close(opened)


def _dated_later(folder: Path, opened: int, *, later_only: bool = False) -> _Times | None:
    """Date an index after the files that were written in its second, if none has changed. Return
    the times that it has to get back; None if it may stay as it is.
    """
    with suppress(OSError, NotPlain, ForgeError):
        seen = os.fstat(opened)
        files = _written_with(folder, opened, seen.st_mtime_ns // SECOND)
        times = (seen.st_atime_ns, seen.st_mtime_ns)
        newest = max((file.written // SECOND for file in files), default=0)
        is_over = bool(files) and _now(opened, times) > newest
        top = os.fsencode(folder) + b"/"
        if files and (is_over or not later_only) and all(_is_known(top, each) for each in files):
            os.utime(opened, ns=(seen.st_atime_ns, (newest + 1) * SECOND))
            return None if is_over else times
    return None


def _written_with(folder: Path, opened: int, second: int) -> list[WrittenFile]:
    """Return the files that were written in the second of their index, or later."""
    with open(opened, "rb", closefd=False) as file:
        data = file.read()
    own = own_folders(folder)[0]
    index = IndexFile(own, _digits(folder, own), data)
    # An entry has the second twice. To go through all of them takes longer than to read a few.
    few = data.count(second.to_bytes(4)) * _FEW < 2 * index.count
    return [] if few else index.written_since(second)


def _now(opened: int, times: _Times) -> int:
    """Return the second by the clock that dates the files: it may be that of another machine."""
    os.utime(opened)
    now = os.fstat(opened).st_mtime_ns // SECOND
    os.utime(opened, ns=times)
    return now


def _digits(folder: Path, own: Path) -> int:
    """Return the length of an object id, which a detached HEAD holds itself."""
    there = (own / "HEAD").read_bytes().strip()
    return len(head(folder).commit if there.startswith(b"ref:") else there)


def _is_known(top: bytes, file: WrittenFile) -> bool:
    """Return whether a file is as it was, or git sees by seconds and size that it is not."""
    if file.written % SECOND == file.changed % SECOND == 0:
        # A file system or a git that knows seconds only.
        return False
    try:
        # A Path for each of 20,000 files takes longer than the look.
        seen = os.lstat(top + file.name)
    except (FileNotFoundError, NotADirectoryError):
        return True
    there = (seen.st_ctime_ns, seen.st_mtime_ns, seen.st_ino & _LOW, seen.st_size & _LOW)
    if there == (file.changed, file.written, file.inode, file.size):
        return True
    return seen.st_mtime_ns // SECOND != file.written // SECOND or there[3] != file.size
