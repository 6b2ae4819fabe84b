"""The first report of each run and its current place in the pipeline, on disk and in commits.

Equal ids of git mean equal contents, so a folder of a commit is read once.
"""

import os
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from pydantic import AwareDatetime, ConfigDict, ValidationError

from forge_bot.git import BranchTips, GitObject, ObjectReader, TreeEntry, tree_entries
from forge_bot.git.revisions import HEADS
from forge_bot.store import RECORD_BRANCHES, SPECS
from forge_bot.store.run_folder import REPORTS, STATE
from forge_bot.values import Effort, Recorded, RunStatus

LOOKED_AT = 50
"""Workspaces that are read for each branch, newest first. Merged branches contain those of older
runs.
"""

_MOST_KNOWN = 4_096
_MOST_COMMITS = 32_768
_LONGEST_LINE = 1_000_000


_SOME_FIELDS = ConfigDict(extra="ignore")
"""A list needs few fields of what it reads, and reads no part of the engine for the others."""


class FirstReport(Recorded):
    """The part of a run's first report that a list shows."""

    model_config = _SOME_FIELDS

    type: Literal["run_started"]
    at: AwareDatetime
    run: str
    title: str
    branch: str
    merge_branch: str = ""


class _Gate(Recorded):
    model_config = _SOME_FIELDS

    name: str


class _State(Recorded):
    model_config = _SOME_FIELDS

    current_phase: str
    current_phase_status: RunStatus
    effort: Effort
    gate: _Gate | None = None
    updated_at: datetime


class Standing(NamedTuple):
    """The part of a state that a list shows."""

    phase: str
    status: str
    effort: str
    gate: str
    updated_at: datetime


class RunFolder(NamedTuple):
    """The folder of a run in a commit, with the id of its tree."""

    name: str
    oid: str


class _CommitHead(NamedTuple):
    tree: str
    seconds: int


# What an id names never changes.
_commits: dict[str, _CommitHead] = {}
_specs: dict[str, str] = {}
_newest: dict[tuple[str, str], tuple[RunFolder, ...]] = {}
_started: dict[str, FirstReport | None] = {}
_standings: dict[str, Standing | None] = {}


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _keep(known: dict[_Key, _Value], key: _Key, value: _Value, most: int = _MOST_KNOWN) -> _Value:
    if len(known) >= most:
        known.clear()
    known[key] = value
    return value


class CommittedRuns:
    """The folders of runs in a repository's commits. A missing or broken part tells nothing."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._heads: dict[str, _CommitHead] = {}
        self._roots: dict[str, str] = {}
        self._names: dict[str, frozenset[str]] = {}

    def look_at(self, commits: Sequence[str]) -> None:
        """Read which folder of runs each commit has; for many commits at once."""
        wanted = tuple(dict.fromkeys(commits))
        self._read_heads(wanted)
        trees = dict.fromkeys(self._heads[commit].tree for commit in wanted if self._has(commit))
        new = [tree for tree in trees if tree not in self._roots]
        for tree in [each for each in new if each in _specs]:
            self._roots[tree] = _specs[tree]
        unread = [tree for tree in new if tree not in self._roots]
        for tree, found in zip(unread, self._reader.read(unread), strict=True):
            # A tree that is not here today may be fetched later.
            self._roots[tree] = "" if found is None else _kept_specs(tree, found)

    def _read_heads(self, commits: Collection[str]) -> None:
        unread = [commit for commit in commits if commit not in self._heads]
        self._heads |= {commit: _commits[commit] for commit in unread if commit in _commits}
        new = [commit for commit in unread if commit not in self._heads]
        for commit, found in zip(new, self._reader.read(new), strict=True):
            if found is not None and (head := _commit_head(found)) is not None:
                self._heads[commit] = _keep(_commits, commit, head, _MOST_COMMITS)

    def _has(self, commit: str) -> bool:
        return commit in self._heads

    def seconds(self, commits: Collection[str]) -> dict[str, int]:
        """Return when the commits were made, in seconds; 0 for one that cannot be read."""
        self._read_heads(tuple(dict.fromkeys(commits)))
        return {
            commit: self._heads[commit].seconds if self._has(commit) else 0 for commit in commits
        }

    def folders(self, commit: str, without: str = "") -> tuple[RunFolder, ...]:
        """Return a commit's newest folders of runs, without those that another has just so."""
        self.look_at((commit, without) if without else (commit,))
        specs, other = self.specs(commit), self.specs(without)
        if not specs:
            return ()
        known = _newest.get((specs, other))
        if known is None:
            found = set(self._listed(specs)) - (set(self._listed(other)) if other else set())
            newest = sorted(found, key=lambda entry: entry.name, reverse=True)[:LOOKED_AT]
            # Many branches have the same folders, which are stored once.
            folders = tuple(_once(os.fsdecode(each.name), each.oid.hex()) for each in newest)
            known = _keep(_newest, (specs, other), folders)
        return known

    def folder(self, commit: str, name: str) -> tuple[RunFolder, ...]:
        """Return the folder of a run in a commit; empty without a run of that name."""
        self.look_at((commit,))
        specs = self.specs(commit)
        found = self._reader.one(f"{specs}:{name}") if specs and name.isprintable() else None
        return (RunFolder(name, found.oid),) if found is not None and found.kind == "tree" else ()

    def names(self, commit: str) -> frozenset[str]:
        """Return the names of all folders of runs in a commit."""
        self.look_at((commit,))
        specs = self.specs(commit)
        if specs and specs not in self._names:
            self._names[specs] = frozenset(os.fsdecode(entry.name) for entry in self._listed(specs))
        return self._names.get(specs, frozenset())

    def specs(self, commit: str) -> str:
        """Return the id of the folder of runs in a commit that has been read; empty without one."""
        return self._roots.get(self._heads[commit].tree, "") if self._has(commit) else ""

    def _listed(self, specs: str) -> list[TreeEntry]:
        tree = self._reader.one(specs)
        return [each for each in tree_entries(tree) if each.is_folder] if tree is not None else []

    def is_here(self, folder: RunFolder) -> bool:
        """Return whether the file of reports is here. In a partial clone its folder may name it and
        the clone not have it.
        """
        tree = self._reader.one(folder.oid)
        if tree is None:
            return False
        found = (each.oid for each in tree_entries(tree) if each.name == REPORTS.encode())
        oid = next(found, None)
        return oid is None or self._reader.one(oid.hex()) is not None

    def started(self, folder: RunFolder) -> FirstReport | None:
        """Return a run's first report; None if it is not here, unreadable, or another run's."""
        return self.all_started((folder,))[0]

    def all_started(self, folders: Sequence[RunFolder]) -> list[FirstReport | None]:
        """Return the first reports of runs, which git is asked for together."""
        self._read_files(folders, REPORTS, _started, first_report)
        told = [_started.get(folder.oid) for folder in folders]
        return [
            first if first is not None and first.run == folder.name else None
            for folder, first in zip(folders, told, strict=True)
        ]

    def standing(self, folder: RunFolder) -> Standing | None:
        """Return the place in the pipeline that a run's state names; None without one."""
        return self.all_standings((folder,))[0]

    def all_standings(self, folders: Sequence[RunFolder]) -> list[Standing | None]:
        """Return the same of several runs, whose files git is asked for together."""
        self._read_files(folders, STATE, _standings, _standing)
        return [_standings.get(folder.oid) for folder in folders]

    def _read_files(
        self,
        folders: Sequence[RunFolder],
        name: str,
        known: dict[str, _Value | None],
        read: Callable[[bytes], _Value | None],
    ) -> None:
        """Remember what a file says in each folder that it was not read in. What is not here today
        may be fetched later.
        """
        new = list(dict.fromkeys(each.oid for each in folders if each.oid not in known))
        files = self._reader.read([f"{oid}:{name}" for oid in new])
        for oid, found in zip(new, files, strict=True):
            if found is not None and found.kind == "blob":
                _keep(known, oid, read(found.data))


@lru_cache(maxsize=_MOST_KNOWN)
def _once(name: str, oid: str) -> RunFolder:
    return RunFolder(name, oid)


def _kept_specs(oid: str, tree: GitObject) -> str:
    found = (
        each.oid.hex()
        for each in tree_entries(tree)
        if each.is_folder and each.name == SPECS.encode()
    )
    return _keep(_specs, oid, next(found, ""), _MOST_COMMITS)


def _commit_head(commit: GitObject) -> _CommitHead | None:
    if commit.kind != "commit":
        return None
    lines = commit.data.partition(b"\n\n")[0].split(b"\n")
    said = {line.partition(b" ")[0]: line.partition(b" ")[2] for line in reversed(lines)}
    seconds = said.get(b"committer", b"").rpartition(b"> ")[2].partition(b" ")[0]
    tree = said.get(b"tree", b"").decode(errors="replace")
    return _CommitHead(tree, int(seconds) if seconds.isdigit() else 0)


def record_commits(tips: BranchTips) -> dict[str, str]:
    """Return the newest commits of the branches of records, here and at remotes, by full ref."""
    here = {
        f"{HEADS}{name}": tips.local[name].commit for name in RECORD_BRANCHES if name in tips.local
    }
    away = {
        each.ref: commit for each, commit in tips.remote.items() if each.branch in RECORD_BRANCHES
    }
    return here | away


def names_on_disk(tree: Path) -> list[str]:
    """Return the names of the newest folders of runs in a work tree."""
    folder = f"{tree}/{SPECS}"
    try:
        newest = sorted(os.listdir(folder), reverse=True)  # noqa: PTH208 - see _started_in
    except OSError:
        return []
    # As above.
    folders = (name for name in newest if os.path.isdir(f"{folder}/{name}"))  # noqa: PTH112
    return [*islice(folders, LOOKED_AT)]


def started_on_disk(tree: Path, name: str) -> FirstReport | None:
    """Return the first report of the run in a work tree's folder; None if it has none."""
    file = f"{tree}/{SPECS}/{name}/{REPORTS}"
    seen = _seen(file)
    found = _started_in(file, *seen) if seen is not None else None
    return found if found is not None and found.run == name else None


# Reports are only added to, or replaced by a file of their own.
@lru_cache(maxsize=_MOST_KNOWN)
def _started_in(file: str, *_seen: int) -> FirstReport | None:
    try:
        # A path object for each of many files costs more than reading them.
        with open(file, "rb") as opened:  # noqa: PTH123 - see above
            return first_report(opened.readline(_LONGEST_LINE))
    except OSError:
        return None


def standing_on_disk(tree: Path, name: str) -> Standing | None:
    """Return the place in the pipeline that the state in a folder of a work tree names."""
    file = f"{tree}/{SPECS}/{name}/{STATE}"
    seen = _seen(file)
    # The state is always replaced whole, by a file of its own.
    return _standing_in(file, *seen) if seen is not None else None


def _seen(file: str) -> tuple[int, int, int, int] | None:
    """Return the metadata of a file that differs between two versions; None without a file."""
    try:
        found = os.stat(file)  # noqa: PTH116 - see _started_in
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


@lru_cache(maxsize=_MOST_KNOWN)
def _standing_in(file: str, *_seen: int) -> Standing | None:
    try:
        return _standing(Path(file).read_bytes())
    except OSError:
        return None


def first_report(raw: bytes) -> FirstReport | None:
    """Return the first report in the bytes of a file of reports; None if it starts no run."""
    end = raw.find(b"\n")
    return _first(raw[:end]) if end >= 0 else None


# The same bytes say the same: a server is asked about the same run again and again.
@lru_cache(maxsize=1_024)
def _first(line: bytes) -> FirstReport | None:
    try:
        return FirstReport.model_validate_json(line)
    except ValidationError:
        return None


def _standing(raw: bytes) -> Standing | None:
    try:
        state = _State.model_validate_json(raw)
    except ValidationError:
        return None
    gate = state.gate.name if state.gate is not None else ""
    status = state.current_phase_status.value
    return Standing(gate or state.current_phase, status, state.effort.value, gate, state.updated_at)
