"""Finds the runs of a repository, on its branches, on those of remotes, and among the refs of ended
runs, and the one that a person means; and tells what each waits for.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import AliasPath, AwareDatetime, ConfigDict, Field, ValidationError

from forge_bot.errors import AmbiguousRun, ForgeError, GitFailed, UnknownRun
from forge_bot.git import Ref, Repository, remotes
from forge_bot.git.revisions import ENDED, ENDED_AT_ORIGIN, HEADS, REMOTES, last_known
from forge_bot.remedies import Remedy
from forge_bot.store.files import inside
from forge_bot.store.run_folder import CARRIED, REPORTS, SPECS, STATE
from forge_bot.values import Recorded, RunStatus, unless_empty

_OVER = frozenset({RunStatus.COMPLETED, RunStatus.ABANDONED})


class RunPause(Recorded):
    """A time in which no model may be asked, as a list shows it."""

    model_config = ConfigDict(extra="ignore")

    why: Literal["limit", "cap", "switch"]
    until: AwareDatetime | None = None
    model: str = ""
    told: str = ""


class RunInfo(Recorded):
    """A run as a list shows it: that part of its state, and where it was found."""

    model_config = ConfigDict(extra="ignore", populate_by_name=False)

    name: str = Field(validation_alias="run")
    branch: str
    base_branch: str
    merge_branch: str = Field(
        default="",
        validation_alias="pullRequestBranch",
        description="the branch that is offered for merge",
    )
    title: str
    current_phase: str
    status: RunStatus = Field(validation_alias="currentPhaseStatus")
    effort: str
    gate: str = Field(default="", validation_alias=AliasPath("gate", "name"))
    pause: RunPause | None = None
    updated_at: AwareDatetime
    tree: Path | None = None
    remote: str = Field(
        default="",
        description="the remote on whose branch it was found; empty if there is a local branch",
    )
    kept: str = Field(
        default="",
        description="the ref that has the record of an ended run whose own branch is gone",
    )

    @property
    def here(self) -> bool:
        """Return whether the branch for merge is the one that was checked out."""
        return self.merge_branch == self.base_branch

    @property
    def phase(self) -> str:
        """The gate at which a person is asked, else the phase."""
        return self.gate or self.current_phase

    @property
    def ref(self) -> str:
        """The ref its commits are read from while it has no work tree here."""
        start = f"{REMOTES}{self.remote}/" if self.remote else HEADS
        return self.kept or f"{start}{self.branch}"

    @property
    def at_client(self) -> str:
        """The branch that a client's tree has checked out for the run."""
        return self.merge_branch if self.here else self.branch

    @property
    def waiting(self) -> bool:
        """Return whether a person is asked."""
        return self.status == RunStatus.AWAITING_HUMAN

    @property
    def ended(self) -> bool:
        """Return whether nothing is left to do."""
        return self.status in _OVER


def runs(repository: Repository, *, unborn: bool = False) -> tuple[RunInfo, ...]:
    """Return the runs of all local branches, newest first, then runs that only remotes have, then
    ended runs whose branches are gone.

    A run belongs to the branch that its record names. Nothing is fetched: remotes are as the last
    fetch saw them. With `unborn`, runs in the work tree whose branch does not exist yet come first.
    """
    refs = repository.refs(HEADS, REMOTES, ENDED, ENDED_AT_ORIGIN)
    states = committed_files(repository, [ref.commit for ref in refs], STATE)
    trees = {ref.name: ref.tree for ref in refs if ref.tree is not None}
    by_name: dict[str, RunInfo] = {}
    if unborn:
        local = {ref.name for ref in refs}
        lying = _runs_on_disk(repository.root)
        by_name = {info.name: info for info in lying if f"{HEADS}{info.branch}" not in local}
    places: tuple[tuple[str, ...], ...] = ((HEADS,), (REMOTES,), (ENDED, ENDED_AT_ORIGIN))
    for place in places:
        there = [ref for ref in refs if ref.name.startswith(place)]
        infos = [info for ref in there for info in _runs_of(ref, states[ref.commit])]
        for info in sorted(infos, key=lambda info: info.updated_at, reverse=True):
            by_name.setdefault(info.name, _placed(info, trees))
    return tuple(by_name.values())


def fetch_ended(repository: Repository) -> bool:
    """Learn which ended runs the remote has. Return whether it could be asked."""
    if repository.remote_url() is None:
        return True
    try:
        remotes.fetch_ended(repository.root)
    except GitFailed:
        return False
    return True


def _placed(info: RunInfo, trees: Mapping[str, Path]) -> RunInfo:
    """Return a run with the tree in which somebody else works for it: the branch for merge is
    checked out there, and the run's folder lies there.
    """
    tree = trees.get(f"{HEADS}{info.merge_branch}") if info.here and info.tree is None else None
    lies_there = tree is not None and (tree / SPECS / info.name / REPORTS).is_file()
    return info.replace(tree=tree) if lies_there else info


def run_in(tree: Path, name: str) -> RunInfo | None:
    """Return the run whose folder is in a work tree, whatever branch is checked out there; None if
    there is no run of that name.
    """
    try:
        info = _info((tree / SPECS / name / STATE).read_bytes())
    except OSError:
        return None
    return info.replace(tree=tree) if info is not None and info.name == name else None


def raw_file(repository: Repository, info: RunInfo, name: str) -> bytes | None:
    """A file of the run's folder: from its work tree if there is one, else from its branch. Raises
    PathEscapes if a link leads out of the folder.
    """
    folder = f"{SPECS}/{info.name}"
    if info.tree is None:
        return repository.read(info.ref, f"{folder}/{name}")
    file = inside(inside(info.tree, folder), name)
    return file.read_bytes() if file.is_file() else None


def artifact_text(repository: Repository, info: RunInfo, name: str) -> str | None:
    """The text of an artifact of the run, or None."""
    if "/" in name or name.startswith("."):
        return None
    raw = raw_file(repository, info, name)
    return raw.decode("utf-8", "replace") if raw is not None else None


def _runs_of(ref: Ref, states: Mapping[str, bytes]) -> Iterator[RunInfo]:
    """Yield the runs that belong to a ref, of those whose states its commit has. A missing or
    broken one tells nothing.
    """
    known = {name: _info(state) for name, state in states.items()}
    committed = {name: info for name, info in known.items() if info and info.name == name}
    if ref.name.startswith((ENDED, ENDED_AT_ORIGIN)):
        info = committed.get(ref.name.rpartition("/")[2])
        if info is not None:
            yield info.replace(kept=ref.name)
    elif ref.name.startswith(REMOTES):
        for info in committed.values():
            if ref.name.endswith(f"/{info.branch}"):
                remote = ref.name.removeprefix(REMOTES).removesuffix(f"/{info.branch}")
                yield info.replace(remote=remote)
    else:
        there = _runs_on_disk(ref.tree) if ref.tree is not None else ()
        # Before its first commit a run is in a client's tree only.
        new = [info for info in there if info.name not in committed]
        old = [info.replace(tree=ref.tree) for info in committed.values()]
        yield from (info for info in (*old, *new) if ref.name == f"{HEADS}{info.branch}")


def committed_files(
    repository: Repository, commits: Sequence[str], file: str
) -> dict[str, dict[str, bytes]]:
    """Return a file of the runs whose folders are in commits, by commit and by name of the run;
    empty where it is missing. Equal folders are read once.
    """
    commits = list(dict.fromkeys(commits))
    trees = repository.read_objects([f"{commit}:{SPECS}" for commit in commits])
    folders = {
        commit: tree.folders() if tree is not None else {}
        for commit, tree in zip(commits, trees, strict=True)
    }
    oids = list(dict.fromkeys(oid for named in folders.values() for oid in named.values()))
    found = repository.read_objects([f"{oid}:{file}" for oid in oids])
    known = {oid: one.data if one else b"" for oid, one in zip(oids, found, strict=True)}
    return {
        commit: {name: known[oid] for name, oid in named.items()}
        for commit, named in folders.items()
    }


def _runs_on_disk(tree: Path) -> Iterator[RunInfo]:
    """Yield the runs whose folders are in a work tree."""
    with suppress(OSError):
        names = sorted(entry.name for entry in (tree / SPECS).iterdir() if entry.is_dir())
        yield from filter(None, (run_in(tree, name) for name in names))


@lru_cache(maxsize=1_024)
def _info(state: bytes) -> RunInfo | None:
    """Return the run that a state tells of; None for one that cannot be read."""
    with suppress(ValidationError):
        return RunInfo.model_validate_json(state)
    return None


class RunStanding(Recorded):
    """The standing of a run, the same for every face: what it waits for."""

    waits_for: Literal["", "person", "batch", "limit", "cap", "switch"] = unless_empty(
        "", "a person, or what goes away by itself; nothing where the run can go on, or is over"
    )
    question: str = unless_empty("", "the gate at which a person is asked")
    trouble: str = unless_empty("", "what is waited for that goes away by itself, in words")
    retry_after: AwareDatetime | None = unless_empty(None, "when it may go on, where known")
    progress: str

    @property
    def in_words(self) -> str:
        """Return the standing in a few words for people."""
        if self.question:
            return f"waits for an answer at {self.question}"
        return f"{self.progress}, {self.trouble}" if self.trouble else self.progress


def run_standing(repository: Repository, info: RunInfo) -> RunStanding:
    """Return what a run waits for, as its record tells here."""
    if info.waiting:
        return RunStanding(waits_for="person", question=info.gate, progress=f"at {info.phase}")
    if info.ended:
        return RunStanding(progress=info.status)
    progress = f"at {info.phase}"
    if batch := _oldest_batch(raw_file(repository, info, CARRIED) or b""):
        return RunStanding(waits_for="batch", trouble=batch, progress=progress)
    if info.pause is None:
        return RunStanding(progress=progress)
    why, until = info.pause.why, info.pause.until
    words = f"waits{f' until {until:%Y-%m-%d %H:%M} UTC' if until else ''}"
    trouble = f"{words}, for the sake of a {why}"
    return RunStanding(waits_for=why, trouble=trouble, retry_after=until, progress=progress)


def _oldest_batch(carried: bytes) -> str:
    """Return in words the oldest of the questions that wait for a batch; empty without one."""
    waits: dict[str, tuple[str, str]] = {}
    for line in carried.splitlines():
        with suppress(ValueError):
            match json.loads(line):
                case {"entry": "parked", "key": str(key), "model": str(model), "at": str(at)}:
                    waits[key] = (at, model)
                case {"entry": "failed" | "finished", "key": str(key)}:
                    waits.pop(key, None)
                case _:
                    pass
    at, model = min(waits.values(), default=("", ""))
    return f"waits for a batch of {model} since {at[:16].replace('T', ' ')} UTC" if at else ""


def resolve_run(repository: Repository, wanted: str | None) -> RunInfo:
    """Return the run that a person means: by name or branch, else that of the checked-out branch,
    else the only one that is not over.

    A run that only a remote has is meant if it is named, or if no run here can continue. Where no
    run has the name, the remote's ended runs are fetched. Raises UnknownRun, or AmbiguousRun, which
    lists the candidates.
    """
    known = runs(repository)
    if wanted:
        named = wanted.rstrip("/").rpartition("/")[2] if wanted.startswith(SPECS) else wanted
        match = _called(known, named)
        if match is None and fetch_ended(repository):
            match = _called(runs(repository), named)
        if match is not None:
            return match
        _check_deleted(repository, named)
        raise UnknownRun(
            f"There is no run {wanted!r} in this repository.",
            hint=(
                "`forge-bot list` names all runs. A run is found by its branch: one that was "
                "renamed needs its name again (git branch -m NEW OLD), and of one that only the "
                "remote has, `git fetch` brings the branch."
            ),
        )
    here = checked_out(repository)
    if mine := [info for info in known if here in _branches(info) - {""} and not info.remote]:
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
    _check_deleted(repository)
    raise UnknownRun("This repository has no run yet.", remedy=Remedy("start-run"))


def _check_deleted(repository: Repository, named: str = "") -> None:
    """Raise UnknownRun with the way back for a run whose branch was deleted while its work tree is
    there.
    """
    for tree in repository.worktrees():
        if tree.branch is None or repository.branch_exists(tree.branch):
            continue
        for info in _runs_on_disk(tree.path):
            if info.branch == tree.branch and named in {"", info.name, info.branch}:
                raise UnknownRun(
                    f"The branch {info.branch} of the run {info.name} was deleted.",
                    hint=f"Bring it back: git branch {info.branch} {last_known(tree.path)}",
                )


def checked_out(repository: Repository) -> str:
    """Return the branch that is checked out; empty where none is."""
    try:
        return repository.head().branch
    except ForgeError:
        return ""


def _called(known: Sequence[RunInfo], named: str) -> RunInfo | None:
    """Return the run of a name, or on a branch of that name."""
    return next(
        (
            info
            for info in known
            if named in {info.name, *_branches(info), f"{info.remote}/{info.branch}"}
        ),
        None,
    )


def _branches(info: RunInfo) -> set[str]:
    return {info.branch, info.merge_branch}


def _where(info: RunInfo) -> str:
    return f"{info.phase}, on {info.remote}" if info.remote else info.phase
