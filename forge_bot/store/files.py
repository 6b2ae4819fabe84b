"""Files: written whole or not at all, and only inside the folder they belong to; room on the disks;
and locks: one process writes at a time.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from forge_bot.errors import DiskFull, PathEscapes, RunBusy, WriteFailed

LEFTOVER = ".*.????????.tmp"
"""Names of half-written files: a process that is killed while it writes leaves one behind."""


def inside(root: Path, relative: str) -> Path:
    """The path of `relative` under `root`; raises PathEscapes if it is absolute, climbs out, or a
    link leads out.
    """
    pure, is_plain = PurePosixPath(relative), {"\0", "\\"}.isdisjoint(relative)
    if not relative or not is_plain or pure.is_absolute() or ".." in pure.parts:
        raise PathEscapes(f"{relative!r} does not stay inside {root.name}.")
    path = root / pure
    if not path.resolve().is_relative_to(root.resolve()):
        raise PathEscapes(f"{relative!r} leads out of {root.name} through a link.")
    return path


def write_whole(path: Path, data: str | bytes) -> None:
    """Replace a file in one step: after a crash it has the old content or the new, never a part.
    Raises WriteFailed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.tmp")
        try:
            with half.open("xb") as file:
                if path.exists():
                    half.chmod(path.stat().st_mode & 0o777)
                file.write(data.encode("utf-8") if isinstance(data, str) else data)
                file.flush()
                os.fsync(file.fileno())
            half.replace(path)
            _sync_folder(path.parent)
        finally:
            half.unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"{path.name} could not be written: {error.strerror or error}."
        ) from error


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


LEAST = 1 << 20
"""Bytes; a disk with less room than this counts as full: git, a report or an answer may no longer
fit."""


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


_DYING_SECONDS = 1.0
"""Time in which a process that was killed lets go of its locks, with those that it started."""


@contextmanager
def held(path: Path, what: str, by: str = "") -> Generator[bool]:
    """Hold the lock at `path` for the time of the block; raises RunBusy if another process keeps
    it, and says which.

    `by` says who we are, to those who come while we hold it. The operating system lets go of the
    lock when its process ends, however it ends. The block gets whether the process before was
    killed.
    """
    # Brings an event loop along; commands that only look hold no lock.
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock, holder = FileLock(path, timeout=_DYING_SECONDS), path.with_suffix(".holder")
    try:
        lock.acquire()
    except Timeout as error:
        raise RunBusy(f"Another process is working on {what}{_describe_holder(holder)}.") from error
    try:
        killed = holder.exists()
        write_whole(holder, by)
        yield killed
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


@contextmanager
def waited_for(path: Path) -> Generator[None]:
    """Hold the lock at `path` for the time of the block, after others who hold it."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path):
        yield


def _describe_holder(holder: Path) -> str:
    try:
        by = holder.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        by = ""
    return f": {by}" if by else ""
