"""Finds the runs of a repository by git alone."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from pydantic import Field, ValidationError

from forge_bot.engine import REPORT, State
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import AmbiguousRun, ForgeError, UnknownRun
from forge_bot.git import Repository, Tracking
from forge_bot.remedies import StartRun
from forge_bot.runs.run_paths import run_paths
from forge_bot.store import SPECS
from forge_bot.store.run_folder import REPORTS, STATE
from forge_bot.values import Frozen

_LOOKED_AT = 50
"""Workspaces per branch that are looked at, newest first: merged branches bring those of older runs
along."""

_REMOTE_BRANCHES = 100
"""Branches of remotes that are looked at, newest first."""

Read = Callable[[str], bytes | None]

_NAMES = re.compile(r"(?<![\w-])\d{8}-[\w-]*\w")
"""The names of runs begin with a day."""


class RunInfo(Frozen):
    """A run as a list shows it."""

    name: str
    branch: str
    title: str
    tree: Path | None
    phase: str = "?"
    status: str = "unreadable"
    effort: str = "?"
    gate: str = ""
    updated_at: datetime
    remote: str = Field(
        default="",
        description="the remote on whose branch it was found; empty if there is a local branch",
    )
    renamed: str = Field(
        default="",
        description="the local branch that has its record, where the run's own branch is gone",
    )

    @property
    def ref(self) -> str:
        """The ref its commits are read from while it has no work tree here."""
        return self.tracking.ref if self.remote else f"refs/heads/{self.renamed or self.branch}"

    @property
    def tracking(self) -> Tracking:
        """The remote's branch, for a run that has none here."""
        return Tracking(self.remote, self.branch)

    @property
    def waiting(self) -> bool:
        """Return whether a person is asked."""
        return self.status == "awaiting_human"

    @property
    def ended(self) -> bool:
        """Return whether nothing is left to do."""
        return self.status in {"completed", "abandoned"}


def runs(repository: Repository) -> tuple[RunInfo, ...]:
    """The runs of all local branches, newest first, then those only remotes have, as the last fetch
    saw them.

    A workspace counts on the branch that its first report names, or on the branch that has it where
    that one is gone.
    """
    trees = {
        info.branch: info.path
        for info in repository.worktrees()
        if info.branch and info.path.is_dir()
    }
    branches = repository.branches()
    found = {branch: _live(repository, branch, trees.get(branch)) for branch in branches}
    here = [own for own, _ in found.values() if own is not None]
    gone = {branch: others for branch, (own, others) in found.items() if own is None}
    here += _renamed(repository, branches, gone, trees)
    away = {info.name: info for info in reversed(tuple(_of_remotes(repository, branches)))}
    return (
        *_newest_first(here),
        *_newest_first(
            info for info in away.values() if info.name not in {mine.name for mine in here}
        ),
    )


def _newest_first(found: Iterable[RunInfo]) -> list[RunInfo]:
    return sorted(found, key=lambda info: info.updated_at, reverse=True)


def resolve_run(repository: Repository, wanted: str | None) -> RunInfo:
    """The run a person means: by name or branch, else that of the checked-out branch, else the only
    one that is not over.

    Runs that only a remote has are meant when they are named, or when no run here is left to go on
    with.

    Raises UnknownRun or AmbiguousRun, which lists what could be meant.
    """
    known = runs(repository)
    if wanted:
        named = wanted.rstrip("/").rpartition("/")[2] if wanted.startswith(SPECS) else wanted
        if match := [
            info
            for info in known
            if named
            in {
                info.name,
                info.branch,
                info.renamed,
                info.ref.removeprefix("refs/remotes/"),
            }
        ]:
            return match[0]
        raise UnknownRun(f"There is no run {wanted!r} in this repository.")
    here = _current_branch(repository)
    if mine := [
        info for info in known if here in {info.branch, info.renamed} - {""} and not info.remote
    ]:
        return mine[0]
    unended = [info for info in known if not info.ended]
    alive = [info for info in unended if not info.remote] or unended
    if len(alive) > 1:
        raise AmbiguousRun(
            "Several runs are under way.",
            details=tuple(f"{info.name} ({_where(info)})" for info in alive),
        )
    if candidates := alive or list(known[:1]):
        return candidates[0]
    raise UnknownRun("This repository has no run yet.", remedy=StartRun())


def named_in(repository: Repository, text: str) -> tuple[RunInfo, ...]:
    """Return the runs that a text names, as `.specs/NAME` or by the bare name of their folder."""
    names = set(_NAMES.findall(text))
    return tuple(info for info in runs(repository) if info.name in names) if names else ()


def _where(info: RunInfo) -> str:
    return f"{info.phase}, on {info.remote}" if info.remote else info.phase


def run_in(tree: Path, name: str) -> RunInfo | None:
    """The run whose folder lies in a work tree, whatever branch is checked out there; None if there
    is none of that name.
    """
    folder = tree / SPECS / name
    report, state = folder / REPORTS, folder / STATE
    started = _started(report.read_bytes() if report.is_file() else None)
    if started is None or started.run != name:
        return None
    return _info(started, tree, state.read_bytes() if state.is_file() else None)


def _current_branch(repository: Repository) -> str:
    try:
        return repository.head().branch
    except ForgeError:
        return ""


def _live(
    repository: Repository, branch: str, tree: Path | None
) -> tuple[RunInfo | None, tuple[RunStarted, ...]]:
    """The run of a branch, or, if it has none, the first reports of other branches' runs that lie
    there.
    """
    read, names = _reader(repository, branch, tree)
    others: list[RunStarted] = []
    for started in _recorded(read, names):
        if started.branch == branch:
            return _info(started, tree, read(f"{SPECS}/{started.run}/{STATE}")), ()
        others.append(started)
    return (_lost(repository, branch, tree) if tree is not None else None), tuple(others)


def _renamed(
    repository: Repository,
    branches: Collection[str],
    gone: Mapping[str, tuple[RunStarted, ...]],
    trees: Mapping[str, Path],
) -> list[RunInfo]:
    """Return the runs whose own branch is gone and whose record another branch has, as after `git
    branch -m`.

    What the default branch has as well was merged there. Of several branches with one record, that
    in the run's work tree counts.
    """
    orphans = [
        (branch, started)
        for branch, others in gone.items()
        for started in others
        if started.branch not in branches
    ]
    default = repository.default_branch() if orphans else None
    merged = repository.entries(f"refs/heads/{default}", SPECS) if default in branches else {}
    found: dict[str, RunInfo] = {}
    for branch, started in orphans:
        if branch == default or started.run in merged:
            continue
        tree = trees.get(branch)
        read, _ = _reader(repository, branch, tree)
        info = _info(started, tree, read(f"{SPECS}/{started.run}/{STATE}")).model_copy(
            update={"renamed": branch}
        )
        own = tree is not None and tree == run_paths(repository, started.run).tree
        # A run that is over may lie on any branch that began at its commits.
        if own or (not info.ended and info.name not in found):
            found[info.name] = info
    return list(found.values())


def _lost(repository: Repository, branch: str, tree: Path) -> RunInfo | None:
    """The run whose reports are committed, but gone from the work tree or not readable there."""
    read, _ = _reader(repository, branch, None)
    committed = repository.entries(f"refs/heads/{branch}", SPECS)
    here = _reader(repository, branch, tree)[0]
    gone = [name for name in committed if _started(here(f"{SPECS}/{name}/{REPORTS}")) is None]
    return _named(read, sorted(gone, reverse=True)[:_LOOKED_AT], branch, tree)


def _named(read: Read, names: Iterable[str], branch: str, tree: Path | None) -> RunInfo | None:
    """The run whose first report names this branch."""
    started = next((each for each in _recorded(read, names) if each.branch == branch), None)
    return (
        _info(started, tree, read(f"{SPECS}/{started.run}/{STATE}"))
        if started is not None
        else None
    )


def _recorded(read: Read, names: Iterable[str]) -> Iterator[RunStarted]:
    """Yield the first reports of the workspaces of these names."""
    for name in names:
        started = _started(read(f"{SPECS}/{name}/{REPORTS}"))
        if started is not None and started.run == name:
            yield started


def _of_remotes(repository: Repository, local: Collection[str]) -> Iterator[RunInfo]:
    """Runs on branches that only remotes have. What the default branch has too came there by a
    merge and is no run of theirs.
    """
    default = repository.default_branch()
    merged = repository.entries(f"refs/heads/{default}", SPECS) if default in local else {}
    for found in repository.tracked(_REMOTE_BRANCHES):
        if found.branch in local:
            continue
        own = repository.entries(found.ref, SPECS).items() - merged.items()

        def read(path: str, ref: str = found.ref) -> bytes | None:
            return repository.read(ref, path)

        names = sorted((name for name, _ in own), reverse=True)[:_LOOKED_AT]
        if info := _named(read, names, found.branch, None):
            yield info.model_copy(update={"remote": found.remote})


def _reader(repository: Repository, branch: str, tree: Path | None) -> tuple[Read, Iterator[str]]:
    if tree is not None:
        folder = tree / SPECS
        names = [path.name for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []

        def read_tree(path: str) -> bytes | None:
            file = tree / path
            return file.read_bytes() if file.is_file() else None

        return read_tree, iter(sorted(names, reverse=True)[:_LOOKED_AT])
    ref = f"refs/heads/{branch}"
    listed = {
        path.split("/")[1] for path in repository.list_files(ref, SPECS) if path.count("/") > 1
    }
    return (lambda path: repository.read(ref, path)), iter(
        sorted(listed, reverse=True)[:_LOOKED_AT]
    )


def _started(raw: bytes | None) -> RunStarted | None:
    line, end, _ = (raw or b"").partition(b"\n")
    return _first(line) if end else None


# The same bytes say the same: a server is asked about the same run again and again.
@lru_cache(maxsize=64)
def _first(line: bytes) -> RunStarted | None:
    try:
        report = REPORT.validate_json(line)
    except ValidationError:
        return None
    return report if isinstance(report, RunStarted) else None


@lru_cache(maxsize=64)
def _state(raw: bytes) -> State | None:
    try:
        return State.model_validate_json(raw)
    except ValidationError:
        return None


def _info(started: RunStarted, tree: Path | None, raw: bytes | None) -> RunInfo:
    plain = RunInfo(
        name=started.run,
        branch=started.branch,
        title=started.title,
        tree=tree,
        updated_at=started.at,
    )
    state = _state(raw or b"")
    if state is None:
        return plain
    return plain.model_copy(
        update={
            "phase": state.gate.name if state.gate is not None else state.current_phase,
            "status": state.current_phase_status.value,
            "effort": state.effort.value,
            "gate": state.gate.name if state.gate is not None else "",
            "updated_at": state.updated_at,
        }
    )
