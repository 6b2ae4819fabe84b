"""The run that a person means."""

import re
from collections.abc import Sequence

from forge_bot.errors import AmbiguousRun, ForgeError, UnknownRun
from forge_bot.git import Repository
from forge_bot.git.revisions import last_known
from forge_bot.remedies import Remedy
from forge_bot.runs.finding_runs.ended_runs import fetch_ended
from forge_bot.runs.finding_runs.find_runs import RunInfo, run_in, runs
from forge_bot.store import SPECS

_NAMES = re.compile(r"(?<![\w-])\d{8}-[\w-]*\w")
"""The names of runs begin with a day."""


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
        for info in (run_in(tree.path, folder.name) for folder in (tree.path / SPECS).glob("*")):
            if info is not None and info.branch == tree.branch and named in {"", *_names(info)}:
                raise UnknownRun(
                    f"The branch {info.branch} of the run {info.name} was deleted.",
                    hint=f"Bring it back: git branch {info.branch} {last_known(tree.path)}",
                )


def _names(info: RunInfo) -> set[str]:
    return {info.name, info.branch}


def named_in(repository: Repository, text: str) -> tuple[RunInfo, ...]:
    """Return the runs that a text names, as `.specs/NAME` or by the bare name of their folder."""
    names = set(_NAMES.findall(text))
    return tuple(info for info in runs(repository) if info.name in names) if names else ()


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
