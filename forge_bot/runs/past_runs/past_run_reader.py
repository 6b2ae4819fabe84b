"""Past runs, read from the workspaces in git. A second process reads many of them.

That process is `python -m forge_bot.runs.past_runs.past_run_reader`. It gets the list in one line,
and writes one line for each run.
"""

import os
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from forge_bot.git import GitObject, ObjectReader, tree_entries
from forge_bot.git.process import plain_environment
from forge_bot.knowledge.past_runs import (
    REQUEST,
    STATE,
    DocumentNames,
    PastRun,
    day_of,
    read_past_run,
)
from forge_bot.knowledge.run_prints import NO_PRINTS, RunPrints, run_prints
from forge_bot.runs.interrupts import check_not_interrupted, ended_by_ctrl_c
from forge_bot.values import Frozen

Key = tuple[str, str]
"""Name of a workspace and the id of its tree: while the id is the same, so is everything in it."""

MANY = 1_000
"""So many runs are read by another process, fingerprints included, while this one makes an index of
them: to read them takes about as long as that, and more than such a process takes to start."""

_AT_ONCE = 250
"""Workspaces whose files are held in memory at the same time."""

_FILES = (b"100644", b"100755")


class RunRead(Frozen):
    """The result for a workspace: a run or none. `whole`: all of its files are in this clone."""

    run: PastRun | None
    whole: bool


class RunReadBeside(RunRead):
    """The same, and the fingerprints of the run's remarks."""

    prints: RunPrints

    @classmethod
    def of(cls, read: RunRead) -> Self:
        """Return what was read, with the fingerprints."""
        run = read.run
        return cls(run=run, whole=read.whole, prints=NO_PRINTS if run is None else run_prints(run))


class _Order(Frozen):
    """The workspaces that another process is to read."""

    common: str
    documents: DocumentNames
    keys: tuple[Key, ...]


def days_of(reader: ObjectReader, keys: Sequence[Key]) -> Iterator[str | None]:
    """Yield the day of the run in each of these workspaces, None for one without a run."""
    for some in _parts(keys):
        trees = [*reader.read([tree for _, tree in some])]
        listed = [_files(tree) for tree in trees]
        states = [files[STATE] for files in listed if STATE in files]
        blobs = dict(zip(states, reader.read(states), strict=True))
        for (name, _), tree, files in zip(some, trees, listed, strict=True):
            if tree is None or STATE in files or REQUEST in files:
                yield day_of(name, _text(blobs.get(files.get(STATE, ""))))
            else:
                yield None


def read_runs(
    reader: ObjectReader, keys: Sequence[Key], documents: DocumentNames
) -> Iterator[RunRead]:
    """Yield the contents of each of these workspaces."""
    for some in _parts(keys):
        trees = [*reader.read([tree for _, tree in some])]
        told = [
            {name: oid for name, oid in _files(tree).items() if documents.tells(name)}
            for tree in trees
        ]
        wanted = list(dict.fromkeys(oid for files in told for oid in files.values()))
        blobs = dict(zip(wanted, reader.read(wanted), strict=True))
        for (name, _), tree, files in zip(some, trees, told, strict=True):
            texts = {path: blobs[oid] for path, oid in files.items()}
            whole = tree is not None and None not in texts.values()
            yield RunRead(run=_run_in(name, texts, documents), whole=whole)


def read_beside(
    common: Path, keys: Sequence[Key], documents: DocumentNames
) -> Generator[RunReadBeside]:
    """Yield the same with fingerprints, of many workspaces read by a process beside this one. What
    that leaves is read here. Raises Interrupted.
    """
    left = iter(keys)
    if len(keys) >= MANY:
        for found in _from_process(common, keys, documents):
            next(left)
            yield found
    check_not_interrupted()
    rest = read_runs(ObjectReader(common), tuple(left), documents)
    yield from map(RunReadBeside.of, rest)


def _from_process(
    common: Path, keys: Sequence[Key], documents: DocumentNames
) -> Iterator[RunReadBeside]:
    order = _Order(common=os.fspath(common), documents=documents, keys=tuple(keys))
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=plain_environment(),
        )
    except OSError:
        return
    with process, ended_by_ctrl_c(process.kill):
        try:
            if process.stdin is not None and process.stdout is not None:
                process.stdin.write(order.model_dump_json().encode() + b"\n")
                process.stdin.flush()
                for line in islice(process.stdout, len(keys)):
                    yield RunReadBeside.model_validate_json(line)
        except (OSError, ValidationError):
            return
        finally:
            process.kill()


def main() -> None:
    """Read what the first line of the input says."""
    order = _Order.model_validate_json(sys.stdin.buffer.readline())
    for each in read_runs(ObjectReader(Path(order.common)), order.keys, order.documents):
        sys.stdout.buffer.write(RunReadBeside.of(each).model_dump_json().encode() + b"\n")


def _parts(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))


def _files(tree: GitObject | None) -> dict[str, str]:
    """Return the files in a workspace, each with its id."""
    entries = tree_entries(tree) if tree is not None else ()
    return {os.fsdecode(each.name): each.oid.hex() for each in entries if each.mode in _FILES}


def _text(blob: GitObject | None) -> str | None:
    return blob.data.decode("utf-8", "replace") if blob is not None else None


def _run_in(
    name: str, texts: Mapping[str, GitObject | None], documents: DocumentNames
) -> PastRun | None:
    return read_past_run(name, lambda path: _text(texts.get(path)), documents)


if __name__ == "__main__":
    from forge_bot.quick_start import start_quickly

    start_quickly()
    main()
