"""One writer a run."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from forge_bot.errors import RunBusy


@contextmanager
def held(path: Path, what: str) -> Generator[None]:
    """Hold the lock at `path` for the time of the block; raises RunBusy at once if another process has it.

    The operating system lets go of it when its process ends, however it ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=0)
    try:
        with lock:
            yield
    except Timeout as error:
        raise RunBusy(f"Another process is working on {what}.") from error
