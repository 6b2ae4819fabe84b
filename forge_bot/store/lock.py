"""Lock a run: one process writes at a time."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from forge_bot.errors import RunBusy, WriteFailed

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
        _say(holder, by)
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


def _say(holder: Path, by: str) -> None:
    # Nobody needs it after a crash, so nothing waits for the disk.
    try:
        holder.write_text(by, encoding="utf-8", errors="replace")
    except OSError as error:
        raise WriteFailed(
            f"{holder.name} could not be written: {error.strerror or error}."
        ) from error


def _describe_holder(holder: Path) -> str:
    try:
        by = holder.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        by = ""
    return f": {by}" if by else ""
