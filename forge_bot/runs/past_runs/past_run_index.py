"""The past runs that a commit holds: read through git once, then remembered beside git's own
data.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from forge_bot import __version__
from forge_bot.errors import GitFailed, WriteFailed
from forge_bot.git import Repository
from forge_bot.knowledge.history import History, RunKey, newest_first
from forge_bot.knowledge.past_runs import DocumentNames, PastRun
from forge_bot.runs.interrupts import check_not_interrupted
from forge_bot.runs.past_runs.kept_indexes import keep_index, kept_index, nearest_index
from forge_bot.runs.past_runs.past_run_reader import MANY, Key, days_of, read_beside, read_runs
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

_TOLD = 10
"""How often a listener gets the progress, in parts of the whole."""


class _Remembered(Frozen):
    """A line of the cache. A folder that holds no run is cached as such."""

    folder: str
    tree: str
    run: PastRun | None


@dataclass(frozen=True)
class Listener:
    """The receiver of progress while many past runs are read.

    All receivers are equal: a history does not depend on its receiver.
    """

    hear: Callable[[int, int], object] = field(default=lambda _read, _of: None, compare=False)

    def read(self, number: int, of: int) -> None:
        """Report progress at each tenth of many runs."""
        if of >= MANY and number * _TOLD % of < _TOLD:
            self.hear(number, of)


NOBODY = Listener()


@lru_cache(maxsize=2)
def history_at(
    repository: Repository,
    commit: str,
    documents: DocumentNames,
    records: str = "",
    listener: Listener = NOBODY,
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
    return kept_index(folder, told) or _grown(repository, wanted, documents, told, listener)


def _grown(
    repository: Repository,
    wanted: Sequence[Key],
    documents: DocumentNames,
    told: str,
    listener: Listener,
) -> History:
    """Return the index of these past runs, made from a stored one.

    Only the runs that it lacks are read, and all runs that are later than the first of these.
    Raises Interrupted after Ctrl-C: many runs take seconds, and no signal reaches this thread.
    """
    folder = memory(repository).parent
    index = nearest_index(folder, _header(documents), wanted)
    known = {(run.name, run.tree): run for run in index.runs}
    others = {key for key in wanted if key in index.others}
    unknown = [key for key in wanted if key not in known and key not in others]
    for key, day in zip(unknown, days_of(repository.objects_by_id(), unknown), strict=True):
        check_not_interrupted()
        if day is None:
            others.add(key)
        else:
            known[key] = RunKey(*key, day)
    order = newest_first(known[key] for key in wanted if key in known)[::-1]
    shared = index.shared(order)
    added = order[shared:]
    index.cut(shared)
    keys = [(run.name, run.tree) for run in added]
    with closing(read_beside(repository.common_dir, keys, documents)) as read:
        for number, (key, found) in enumerate(zip(added, read, strict=True)):
            if found.run is None or not found.whole:
                # What a partial clone has not fetched yet is not what there is.
                return History(_read_runs(repository, wanted, documents))
            listener.read(number, len(added))
            check_not_interrupted()
            index.append(key, found.run, found.prints)
    index.pass_over(others)
    return keep_index(folder, told, index)


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
    """Return the past runs in a commit and in one with records, by name.

    Only workspaces that are new to this clone are read and parsed. The stored ones can be deleted
    at any time; if they cannot be stored, the next run reads them again.
    """
    return _read_runs(repository, _wanted(repository, commit, records), documents)


def _wanted(repository: Repository, commit: str, records: str) -> list[Key]:
    folders = past_folders(repository, commit, records)
    # A name that cannot be decoded cannot be shown.
    keys = [(name, tree) for name, tree in sorted(folders.items()) if name.isprintable()]
    given_up = max(len(keys) - RUNS_READ, 0) // _GIVEN_UP_AT_ONCE * _GIVEN_UP_AT_ONCE
    return keys[given_up:]


def _read_runs(
    repository: Repository, wanted: Sequence[Key], documents: DocumentNames
) -> tuple[PastRun, ...]:
    """Return the runs in these workspaces, those that are remembered without reading them."""
    if not wanted:
        return ()
    place = memory(repository)
    header = _header(documents)
    known = _remembered(place, header)
    if new := [key for key in wanted if key not in known]:
        read = [*read_runs(repository.objects_by_id(), new, documents)]
        known |= {key: found.run for key, found in zip(new, read, strict=True)}
        kept = known if len(known) <= 2 * RUNS_READ else {key: known[key] for key in wanted}
        # What a partial clone has not fetched yet is not what there is.
        partial = {key for key, found in zip(new, read, strict=True) if not found.whole}
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


def _lines(known: Mapping[Key, PastRun | None]) -> Iterator[str]:
    for (folder, tree), run in known.items():
        yield _Remembered(folder=folder, tree=tree, run=run).model_dump_json()


def _remembered(place: Path, expected: str) -> dict[Key, PastRun | None]:
    """Return the remembered runs; empty if another version wrote the file or it is broken."""
    try:
        header, *lines = place.read_text(encoding="utf-8").split("\n")
        entries = [_Remembered.model_validate_json(line) for line in lines if line]
    except (OSError, ValueError, ValidationError):
        return {}
    return (
        {(entry.folder, entry.tree): entry.run for entry in entries} if header == expected else {}
    )
