"""The answers of models in a run that a server leads, for a command that writes them to a file."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from forge_bot.errors import WriteFailed
from forge_bot.git import Repository
from forge_bot.runs.run_paths import run_paths


def answers_file(repository: Repository, run: str) -> Path | None:
    """Return the file to which workers append the run's answers; None if no command wants it."""
    file = _file(repository, run)
    return file if file.is_file() else None


@contextmanager
def recorded(repository: Repository, run: str, record: Path | None) -> Generator[None]:
    """Append the models' answers during the block to `record`. Raises WriteFailed.

    From then on, workers of this clone write them beside the run's journal.
    """
    if record is None:
        yield
        return
    file = _file(repository, run)
    file.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
    known = file.stat().st_size
    _append(record, b"")
    try:
        yield
    finally:
        with file.open("rb") as answers:
            answers.seek(known)
            # A worker may be in the middle of a line.
            whole, end, _ = answers.read().rpartition(b"\n")
        _append(record, whole + end)


def _append(record: Path, lines: bytes) -> None:
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, lines)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise WriteFailed(f"{record} could not be written: {error.strerror or error}.") from error


def _file(repository: Repository, run: str) -> Path:
    return run_paths(repository, run).home / "answers.jsonl"
