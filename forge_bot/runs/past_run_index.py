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
from forge_bot.knowledge.history import RunKey, newest_first
from forge_bot.runs.kept_indexes import keep_index, kept_index, nearest_index
from forge_bot.store import SPECS, write_whole
from forge_bot.values import Frozen

RUNS_READ = 10_000
"""Past runs that are learned from at least, the newest by name."""

_GIVEN_UP_AT_ONCE = 1_000
"""So many of the oldest are left out together: without them the index begins anew."""

INDEXED = 250
"""So many past runs have an index that is kept, which also remembers them: of fewer it is made
faster than it is written.
"""

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
        return History(_read_runs(repository, wanted, documents))
    header = _header(documents)
    names = "".join(f"\n{tree} {name}" for name, tree in wanted)
    told = hashlib.sha256(f"{header}{names}".encode()).hexdigest()[:20]
    folder = memory(repository).parent
    return kept_index(folder, told) or _grown(repository, wanted, documents, told)


def _grown(
    repository: Repository, wanted: Sequence[_Key], documents: DocumentNames, told: str
) -> History:
    """Return the index of these past runs, made of one that is kept: only the runs that it lacks
    are read, and those that come after the first of them in time.
    """
    folder = memory(repository).parent
    index = nearest_index(folder, _header(documents), wanted)
    known = {(run.name, run.tree): run for run in index.runs}
    others = {key for key in wanted if key in index.others}
    texts = dict[_Key, str]()

    def read(keys: Sequence[_Key]) -> bool:
        for key, run, whole in _read(repository, keys, documents):
            if not whole:
                return False
            if run is None:
                others.add(key)
            else:
                # As text a run takes the least memory.
                texts[key], known[key] = run.model_dump_json(), RunKey(*key, run.date)
        return True

    complete = read([key for key in wanted if key not in known and key not in others])
    order = newest_first(known[key] for key in wanted if key in known)[::-1]
    shared = index.shared(order)
    added = [(run.name, run.tree) for run in order[shared:]]
    if not complete or not read([key for key in added if key not in texts]):
        # What a partial clone has not fetched yet is not what there is.
        return History(_read_runs(repository, wanted, documents))
    index.cut(shared)
    for key in added:
        index.append(known[key], PastRun.model_validate_json(texts.pop(key)))
    index.pass_over(others)
    return keep_index(folder, told, index.packed()) or index.history()


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
    return _read_runs(repository, _wanted(repository, commit, records), documents)


def _wanted(repository: Repository, commit: str, records: str) -> list[_Key]:
    folders = past_folders(repository, commit, records)
    # A name that cannot be shown cannot be told to anybody either.
    keys = [(name, tree) for name, tree in sorted(folders.items()) if name.isprintable()]
    given_up = max(len(keys) - RUNS_READ, 0) // _GIVEN_UP_AT_ONCE * _GIVEN_UP_AT_ONCE
    return keys[given_up:]


def _read_runs(
    repository: Repository, wanted: Sequence[_Key], documents: DocumentNames
) -> tuple[PastRun, ...]:
    """Return the runs in these workspaces, those that are remembered without reading them."""
    if not wanted:
        return ()
    place = memory(repository)
    header = _header(documents)
    known = _remembered(place, header)
    if new := [key for key in wanted if key not in known]:
        read = [*_read(repository, new, documents)]
        known |= {key: run for key, run, _ in read}
        kept = known if len(known) <= 2 * RUNS_READ else {key: known[key] for key in wanted}
        # What a partial clone has not fetched yet is not what there is.
        partial = {key for key, _, whole in read if not whole}
        kept = {key: run for key, run in kept.items() if key not in partial}
        with suppress(WriteFailed):
            write_whole(place, "\n".join((header, *_lines(kept), "")))
    return tuple(run for key in wanted if (run := known[key]) is not None)


def memory(repository: Repository) -> Path:
    """The file in which past runs are remembered: derived from commits, shared by all runs of this
    clone, never committed.
    """
    return repository.common_dir / "forge-bot" / "past-runs.jsonl"


def _header(documents: DocumentNames) -> str:
    """First line of the memory. Another version, or other names of documents, may read a workspace
    differently: it begins anew.
    """
    return json.dumps({"pastRuns": 4, "version": __version__, "documents": documents})


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
) -> Iterator[tuple[_Key, PastRun | None, bool]]:
    """Yield the run of each of these workspaces, and whether all its files are in this clone."""
    reader = repository.objects_by_id()
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        trees = [*reader.read([tree for _, tree in some])]
        files = [_told(tree, documents) for tree in trees]
        wanted = list(dict.fromkeys(oid for each in files for oid in each.values()))
        blobs = dict(zip(wanted, reader.read(wanted), strict=True))
        for key, tree, named in zip(some, trees, files, strict=True):
            texts = {name: blobs[oid] for name, oid in named.items()}
            whole = tree is not None and None not in texts.values()
            yield key, _run_in(key[0], texts, documents), whole


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
