"""The past runs that a commit holds: read through git once, then remembered beside git's own
data.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from forge_bot import __version__
from forge_bot.errors import GitFailed, WriteFailed
from forge_bot.git import GitObject, Repository, tree_entries
from forge_bot.knowledge import DocumentNames, History, PastRun, read_past_run
from forge_bot.store import SPECS, write_whole
from forge_bot.values import Frozen

RUNS_READ = 10_000
"""Past runs that are learned from, the newest by name."""

INDEXED = 250
"""So many past runs have an index that is kept: of fewer it is made faster than it is written."""

_INDEXES_KEPT = 2

_AT_ONCE = 250
"""Workspaces whose files are held in memory at the same time."""

_FILES = (b"100644", b"100755")

_Key = tuple[str, str]
"""Name of a workspace and the id of its tree: while the id is the same, so is everything in it."""


class _Remembered(Frozen):
    """A line of the memory; a folder that holds no run is remembered as such."""

    folder: str
    tree: str
    run: PastRun | None


@lru_cache(maxsize=2)
def history_at(
    repository: Repository, commit: str, documents: DocumentNames, records: str = ""
) -> History:
    """Return the history in a commit, given by its full id, ready to be asked; made once for
    each commit. `records` is a commit with the records of ended runs.
    """
    wanted = _wanted(repository, commit, records)
    if len(wanted) < INDEXED:
        return History(_read_runs(repository, wanted, documents)[0])
    names = "".join(f"\n{tree} {name}" for name, tree in wanted)
    told = hashlib.sha256(f"{_header(documents)}{names}".encode()).hexdigest()[:20]
    folder = memory(repository).parent
    if (kept := _kept_index(folder, told)) is not None:
        return kept
    runs, whole = _read_runs(repository, wanted, documents)
    history = History(runs)
    if whole:
        _keep_index(folder, told, history)
    return _kept_index(folder, told) or history


def _kept_index(folder: Path, told: str) -> History | None:
    """Return the index of just these past runs; None if there is none, or it is not as it was
    written.
    """
    import sqlite3

    from forge_bot.knowledge.kept_history import KeptHistory

    for path in folder.glob(f"history-{told}-*.sqlite"):
        with suppress(OSError, ValueError, sqlite3.Error), path.open("rb") as file:
            if path.name == _index_name(told, hashlib.file_digest(file, "sha256").hexdigest()):
                history = KeptHistory(path)
                # The ones that were asked last stay.
                with suppress(OSError):
                    os.utime(path)
                return history
    return None


def _keep_index(folder: Path, told: str, history: History) -> None:
    """Write the index of a history in one step, and take away those that nobody asked for lately.
    Where nothing can be written, it is made again.
    """
    import sqlite3

    from forge_bot.knowledge.kept_history import packed_history

    with suppress(WriteFailed, OSError, sqlite3.Error):
        packed = packed_history(history)
        name = _index_name(told, hashlib.sha256(packed).hexdigest())
        write_whole(folder / name, packed)
        others = [path for path in folder.glob("history-*.sqlite") if path.name != name]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[_INDEXES_KEPT - 1 :]:
            path.unlink(missing_ok=True)


def _index_name(told: str, digest: str) -> str:
    """Return a file name with a digest of what the index was made from, and one of its bytes."""
    return f"history-{told}-{digest[:20]}.sqlite"


def past_folders(repository: Repository, commit: str, records: str) -> dict[str, str]:
    """Return the folders of past runs in a commit and in one with records, by name with the ids of
    their trees. What this clone does not have tells nothing.
    """
    try:
        kept = repository.list_folders(records, SPECS) if records else {}
    except GitFailed:
        kept = {}
    return kept | repository.list_folders(commit, SPECS)


def past_runs(
    repository: Repository, commit: str, documents: DocumentNames, records: str = ""
) -> tuple[PastRun, ...]:
    """The past runs in a commit and in one with records, by name.

    Only workspaces that nobody here has seen before are read and parsed. What is remembered can be
    deleted at any time; where it cannot be written, the next run reads again.
    """
    return _read_runs(repository, _wanted(repository, commit, records), documents)[0]


def _wanted(repository: Repository, commit: str, records: str) -> list[_Key]:
    folders = past_folders(repository, commit, records)
    # A name that cannot be shown cannot be told to anybody either.
    return [(name, tree) for name, tree in sorted(folders.items()) if name.isprintable()][
        -RUNS_READ:
    ]


def _read_runs(
    repository: Repository, wanted: Sequence[_Key], documents: DocumentNames
) -> tuple[tuple[PastRun, ...], bool]:
    """Return the runs in these workspaces, and whether this clone has all of their files."""
    if not wanted:
        return (), True
    whole = True
    place = memory(repository)
    header = _header(documents)
    known = _remembered(place, header)
    new = [key for key in wanted if key not in known]
    if new:
        read, partial = _read(repository, new, documents)
        known |= read
        kept = known if len(known) <= 2 * RUNS_READ else {key: known[key] for key in wanted}
        # What a partial clone has not fetched yet is not what there is.
        kept = {key: run for key, run in kept.items() if key not in partial}
        whole = not partial
        with suppress(WriteFailed):
            write_whole(place, "\n".join((header, *_lines(kept), "")))
    return tuple(run for key in wanted if (run := known[key]) is not None), whole


def memory(repository: Repository) -> Path:
    """The file in which past runs are remembered: derived from commits, shared by all runs of this
    clone, never committed.
    """
    return repository.common_dir / "forge-bot" / "past-runs.jsonl"


def _header(documents: DocumentNames) -> str:
    """First line of the memory. Another version, or other names of documents, may read a workspace
    differently: it begins anew.
    """
    return json.dumps({"pastRuns": 3, "version": __version__, "documents": documents})


def _lines(known: Mapping[_Key, PastRun | None]) -> Iterator[str]:
    for (folder, tree), run in known.items():
        yield _Remembered(folder=folder, tree=tree, run=run).model_dump_json()


def _remembered(place: Path, expected: str) -> dict[_Key, PastRun | None]:
    """Return the remembered runs; empty if another version wrote the file or it is broken."""
    try:
        header, *lines = place.read_text(encoding="utf-8").split("\n")
        entries = [_Remembered.model_validate_json(line) for line in lines if line]
    except (OSError, ValueError, ValidationError):
        return {}
    return (
        {(entry.folder, entry.tree): entry.run for entry in entries} if header == expected else {}
    )


def _read(
    repository: Repository, keys: Sequence[_Key], documents: DocumentNames
) -> tuple[dict[_Key, PastRun | None], set[_Key]]:
    """Return the runs of these workspaces, and those of which a file is not in this clone."""
    found: dict[_Key, PastRun | None] = {}
    partial: set[_Key] = set()
    reader = repository.objects_by_id()
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        files = [_told(tree, documents) for tree in reader.read([tree for _, tree in some])]
        wanted = list(dict.fromkeys(oid for each in files for oid in each.values()))
        blobs = dict(zip(wanted, reader.read(wanted), strict=True))
        for key, named in zip(some, files, strict=True):
            texts = {name: blobs[oid] for name, oid in named.items()}
            partial |= {key} if None in texts.values() else set()
            found[key] = _run_in(key[0], texts, documents)
    return found, partial


def _told(tree: GitObject | None, documents: DocumentNames) -> dict[str, str]:
    """Return the documents in a workspace that tell something, each with its id."""
    named = (
        (os.fsdecode(entry.name), entry)
        for entry in (tree_entries(tree) if tree is not None else ())
    )
    return {
        name: entry.oid.hex()
        for name, entry in named
        if entry.mode in _FILES and documents.tells(name)
    }


def _run_in(
    name: str, texts: Mapping[str, GitObject | None], documents: DocumentNames
) -> PastRun | None:
    def text_of(path: str) -> str | None:
        found = texts.get(path)
        return found.data.decode("utf-8", "replace") if found is not None else None

    return read_past_run(name, text_of, documents)
