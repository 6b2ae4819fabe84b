"""Reads the newest past runs of a repository from git."""

import os
from collections.abc import Mapping
from functools import lru_cache

from forge_bot.errors import GitFailed
from forge_bot.git import GitObject, Repository, tree_entries
from forge_bot.knowledge.history import History
from forge_bot.knowledge.past_runs import DocumentNames, PastRun, read_past_run
from forge_bot.store import SPECS

RUNS_READ = 200
"""Past runs that are learned from, the newest by name."""

_FILES = (b"100644", b"100755")


@lru_cache(maxsize=2)
def history_at(
    repository: Repository, commit: str, documents: DocumentNames, records: str = ""
) -> History:
    """Return the history in a commit, given by its full id; read once for each commit. `records`
    is a commit with the records of ended runs.
    """
    return History(read_past_runs(repository, commit, documents, records))


def read_past_runs(
    repository: Repository, commit: str, documents: DocumentNames, records: str = ""
) -> tuple[PastRun, ...]:
    """Return the newest past runs in a commit and in one with records, by name; none where a
    partial clone has not fetched all of them.
    """
    try:
        return _read(repository, past_folders(repository, commit, records), documents)
    except GitFailed:
        return ()


def _read(
    repository: Repository, folders: Mapping[str, str], documents: DocumentNames
) -> tuple[PastRun, ...]:
    reader = repository.objects_by_id()
    trees = zip(folders, reader.read([*folders.values()]), strict=True)
    files = {name: _files(tree, documents) for name, tree in trees}
    ids = list(dict.fromkeys(oid for oids in files.values() for oid in oids.values()))
    blobs = zip(ids, reader.read(ids), strict=True)
    texts = {oid: blob.data.decode("utf-8", "replace") for oid, blob in blobs if blob is not None}
    runs = (
        read_past_run(name, lambda path, oids=oids: texts.get(oids.get(path, "")), documents)
        for name, oids in files.items()
    )
    return tuple(run for run in runs if run is not None)


def past_folders(repository: Repository, commit: str, records: str) -> dict[str, str]:
    """Return the folders of the newest past runs in a commit and in one with records, by name with
    the ids of their trees. What this clone does not have is left out.
    """
    try:
        recorded = repository.list_folders(records, SPECS) if records else {}
    except GitFailed:
        recorded = {}
    folders = recorded | repository.list_folders(commit, SPECS)
    # A name that cannot be decoded cannot be shown.
    names = sorted(name for name in folders if name.isprintable())
    return {name: folders[name] for name in names[-RUNS_READ:]}


def _files(tree: GitObject | None, documents: DocumentNames) -> dict[str, str]:
    """Return the files of a run that are read, each with its id."""
    entries = tree_entries(tree) if tree is not None else ()
    named = {os.fsdecode(entry.name): entry.oid.hex() for entry in entries if entry.mode in _FILES}
    return {name: oid for name, oid in named.items() if documents.tells(name)}
