"""Finds the runs of a repository by git alone."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from forge_bot.git import BranchTips, Repository, Tracking
from forge_bot.git.revisions import HEADS
from forge_bot.runs.finding_runs.record_heads import (
    CommittedRuns,
    FirstReport,
    RunFolder,
    Standing,
    names_on_disk,
    record_commits,
    standing_on_disk,
    started_on_disk,
)
from forge_bot.runs.run_paths import run_of_tree, run_paths
from forge_bot.store import RECORD_BRANCHES
from forge_bot.values import Frozen

_REMOTE_BRANCHES = 100
"""The number of remote branches that are read, newest first."""

_OVER = frozenset({"completed", "abandoned"})


class RunInfo(Frozen):
    """A run as a list shows it."""

    name: str
    branch: str
    merge_branch: str = Field(
        default="", description="the name that a person gave to the branch for merge"
    )
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
    kept: str = Field(
        default="",
        description="the ref that has the record of an ended run whose own branch is gone",
    )

    @property
    def ref(self) -> str:
        """The ref its commits are read from while it has no work tree here."""
        if self.kept:
            return self.kept
        return self.tracking.ref if self.remote else f"refs/heads/{self.renamed or self.branch}"

    @property
    def kept_on(self) -> str:
        """The name of the branch of records, with its remote's if it is one's."""
        return self.kept.removeprefix("refs/heads/").removeprefix("refs/remotes/")

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
        return self.status in _OVER


def runs(repository: Repository, *, unborn: bool = False) -> tuple[RunInfo, ...]:
    """Return the runs of all local branches, newest first, then runs that only remotes have, then
    ended runs whose branches are gone.

    A workspace belongs to the branch that its first report names; if that branch is gone, to the
    branch that contains the workspace. Nothing is fetched: remotes are as the last fetch saw them.
    If a partial clone lacks a run's record, the run has its name and branch only. With `unborn`,
    runs in the work tree whose branch does not exist yet come first.
    """
    tips = repository.tips(trees=True)
    reader = repository.objects_by_id()
    known = _Branches(repository, tips, CommittedRuns(reader))
    here = known.here()
    away = {info.name: info for info in reversed(tuple(known.away()))}
    names = {info.name for info in (*here, *away.values())}
    kept = [info for info in known.kept() if info.name not in names]
    names |= {info.name for info in kept}
    return (
        *(known.lying(repository.root, names) if unborn else ()),
        *_newest_first(here),
        *_newest_first(
            info for info in away.values() if info.name not in {mine.name for mine in here}
        ),
        *_newest_first(kept),
    )


def _newest_first(found: Iterable[RunInfo]) -> list[RunInfo]:
    return sorted(found, key=lambda info: info.updated_at, reverse=True)


def kept_run(repository: Repository, name: str) -> RunInfo | None:
    """The run of that name on a branch of records, however many are newer."""
    reader = repository.objects_by_id()
    known = _Branches(repository, repository.tips(), CommittedRuns(reader))
    return next(known.kept(name), None)


def run_in(tree: Path, name: str) -> RunInfo | None:
    """Return the run whose folder is in a work tree, whatever branch is checked out there; None if
    there is no run of that name.
    """
    started = started_on_disk(tree, name)
    return _info(started, tree, standing_on_disk(tree, name)) if started is not None else None


class _Orphan(NamedTuple):
    """A run on a branch that is not its own; without a folder, in its work tree."""

    branch: str
    started: FirstReport
    folder: RunFolder | None


class _Branches:
    """The branches of a repository at one moment, and the runs on them."""

    def __init__(self, repository: Repository, tips: BranchTips, committed: CommittedRuns) -> None:
        self._repository = repository
        self._tips = tips
        self._committed = committed
        self._own: dict[str, frozenset[str] | None] = {}
        self._names: dict[str, list[str]] = {}
        self._started: dict[str, FirstReport | None] = {}

    def here(self) -> list[RunInfo]:
        """Return the runs of local branches."""
        local = {name: tip for name, tip in self._tips.local.items() if name not in RECORD_BRANCHES}
        self._committed.look_at([tip.commit for tip in local.values() if tip.tree is None])
        found: list[RunInfo] = []
        others: list[_Orphan] = []
        told: set[str] = set()
        for branch, tip in local.items():
            if tip.tree is not None:
                own, more = self._checked_out(branch, tip.commit, tip.tree)
            else:
                specs = self._committed.specs(tip.commit)
                own = self._on_a_branch(specs, branch, tip.commit) if specs else None
                # Of many branches that have the same folder of runs, one tells of it.
                more = self._lying(branch, tip.commit) if own is None and specs not in told else []
                told |= {specs} if own is None else set()
            found += [own] if own is not None else []
            others += more if own is None else []
        return found + self._renamed([each for each in others if each.started.branch not in local])

    def away(self) -> Iterator[RunInfo]:
        """Yield the runs on branches that only remotes have. What the default branch has too came
        there by a merge and is no run of theirs.
        """
        default = self._tips.local.get(self._tips.default or "") if self._tips.remote else None
        only = {
            tracking: commit
            for tracking, commit in self._tips.remote.items()
            if tracking.branch not in (*self._tips.local, *RECORD_BRANCHES)
        }
        made = self._committed.seconds(only.values())
        newest = sorted(only.items(), key=lambda each: made[each[1]], reverse=True)
        chosen = newest[:_REMOTE_BRANCHES]
        self._committed.look_at([commit for _, commit in chosen])
        for tracking, commit in chosen:
            folders = self._committed.folders(commit, default.commit if default else "")
            if info := self._named(folders, tracking.branch, commit, None):
                yield info.replace(remote=tracking.remote)

    def kept(self, only: str = "") -> Iterator[RunInfo]:
        """Yield the runs on the branches of records, the newest by name, each once; or one of them,
        which may also have been merged into the default branch with its record.
        """
        told: set[str] = set()
        merged = self._merged_into() if only else {}
        for ref, commit in (record_commits(self._tips) | merged).items():
            known = self._committed
            folders = known.folder(commit, only) if only else known.folders(commit)
            known.all_standings(folders)
            for folder, started in zip(folders, known.all_started(folders), strict=True):
                if started is not None and folder.name not in told:
                    told.add(folder.name)
                    info = _info(started, None, known.standing(folder))
                    if info.ended or ref not in merged:
                        yield info.replace(kept=ref)

    def lying(self, tree: Path, without: Collection[str]) -> Iterator[RunInfo]:
        """Yield the newest runs, by name, in a work tree whose branches do not exist yet."""
        for name in self._names_in(tree):
            started = self._started_in(tree, name) if name not in without else None
            if started is not None and started.branch not in self._tips.local:
                yield _info(started, tree, standing_on_disk(tree, name))

    def _names_in(self, tree: Path) -> list[str]:
        """Return the names of the newest folders of runs in a work tree; each tree is read once."""
        key = str(tree)
        if key not in self._names:
            self._names[key] = names_on_disk(tree)
        return self._names[key]

    def _started_in(self, tree: Path, name: str) -> FirstReport | None:
        """Return the first report of a run in a work tree; each is read once."""
        key = f"{tree}/{name}"
        if key not in self._started:
            self._started[key] = started_on_disk(tree, name)
        return self._started[key]

    def _merged_into(self) -> dict[str, str]:
        """Return the newest commit of the default branch, by its full ref."""
        name = self._tips.default or ""
        tip = self._tips.local.get(name)
        return {f"{HEADS}{name}": tip.commit} if tip is not None else {}

    def _checked_out(
        self, branch: str, commit: str, tree: Path
    ) -> tuple[RunInfo | None, list[_Orphan]]:
        """Return the run of a branch that a work tree has checked out. If the branch has none,
        return the other runs in that tree.
        """
        others: list[_Orphan] = []
        for name in self._names_in(tree):
            started = self._started_in(tree, name)
            if started is not None and started.branch == branch:
                return _info(started, tree, standing_on_disk(tree, name)), []
            others += [_Orphan(branch, started, None)] if started is not None else []
        return self._lost(branch, commit, tree), others

    def _on_a_branch(self, specs: str, branch: str, commit: str) -> RunInfo | None:
        """The run of a branch that no work tree has. Thousands of branches may have the same folder
        of runs, of which each is then not looked through again.
        """
        if specs not in self._own:
            found = self._committed.all_started(self._committed.folders(commit))
            names = frozenset(started.branch for started in found if started is not None)
            self._own[specs] = names if None not in found else None
        names = self._own[specs]
        if names is not None and branch not in names:
            return None
        return self._named(self._committed.folders(commit), branch, commit, None)

    def _lying(self, branch: str, commit: str) -> list[_Orphan]:
        return [
            _Orphan(branch, started, folder)
            for folder in self._committed.folders(commit)
            if (started := self._committed.started(folder)) is not None
        ]

    def _lost(self, branch: str, commit: str, tree: Path) -> RunInfo | None:
        """Return the run whose reports are committed but missing or unreadable in the work tree."""
        gone = [
            folder
            for folder in self._committed.folders(commit)
            if self._started_in(tree, folder.name) is None
        ]
        return self._named(gone, branch, commit, tree)

    def _named(
        self, folders: Iterable[RunFolder], branch: str, commit: str, tree: Path | None
    ) -> RunInfo | None:
        """The run whose first report names this branch; where its record is not here, the run that
        has the branch's name.
        """
        for folder in folders:
            started = self._committed.started(folder)
            if started is not None and started.branch == branch:
                return _info(started, tree, self._committed.standing(folder))
            if (
                started is None
                and _alike(folder.name, branch)
                and not self._committed.is_here(folder)
            ):
                made = self._committed.seconds((commit,))[commit]
                return RunInfo(
                    name=folder.name,
                    branch=branch,
                    title=folder.name,
                    tree=tree,
                    updated_at=datetime.fromtimestamp(made, UTC),
                )
        return None

    def _renamed(self, orphans: Sequence[_Orphan]) -> list[RunInfo]:
        """Return the runs whose own branch is gone and whose record is on another branch, as after
        `git branch -m`.

        What the default branch has as well was merged there. Of several branches with one record,
        that in the run's work tree counts.
        """
        self._committed.all_standings([each.folder for each in orphans if each.folder is not None])
        found: dict[str, RunInfo] = {}
        seen: set[RunFolder] = set()
        for branch, started, folder in orphans:
            if folder is not None and folder in seen:
                continue
            seen |= {folder} if folder is not None else set()
            tree = self._tips.local[branch].tree
            if folder is not None:
                standing = self._committed.standing(folder)
            else:
                standing = standing_on_disk(tree, started.run) if tree is not None else None
            own = self._is_own(tree, started.run)
            # A run that is over may be on any branch that began at its commits.
            if not own and (_is_over(standing) or started.run in found):
                continue
            info = _info(started, tree, standing, renamed=branch)
            if not self._merged(info):
                found[info.name] = info
        return list(found.values())

    def _is_own(self, tree: Path | None, run: str) -> bool:
        """Return whether a work tree is the one that forge-bot made for a run."""
        # Its name tells most of them apart without a look at the places of each run.
        return (
            tree is not None
            and run_of_tree(str(tree)) == run
            and tree == run_paths(self._repository, run).tree
        )

    def _merged(self, info: RunInfo) -> bool:
        """Return whether the default branch has the record of a run too."""
        tip = self._tips.local.get(self._tips.default or "")
        return tip is not None and info.name in self._committed.names(tip.commit)


def _is_over(standing: Standing | None) -> bool:
    return standing is not None and standing.status in _OVER


def _alike(name: str, branch: str) -> bool:
    """Return whether a run of that name is the one that a branch is called after."""
    return name.partition("-")[2] == branch.rpartition("/")[2]


def _info(
    started: FirstReport, tree: Path | None, standing: Standing | None, renamed: str = ""
) -> RunInfo:
    told = standing._asdict() if standing is not None else {"updated_at": started.at}
    return RunInfo.model_validate(
        {
            "name": started.run,
            "branch": started.branch,
            "merge_branch": started.merge_branch,
            "title": started.title,
            "tree": tree,
            "renamed": renamed,
            **told,
        }
    )
