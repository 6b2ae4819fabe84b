"""The branch with the records of ended runs, apart from all code.

Each commit that adds a record has the newest commit of the run as its second parent, and that of
the branch for merge as its third. So nothing that a link or an approval names is lost when branches
are deleted. The commits are made without a checkout.
"""

import shlex
from collections.abc import Iterable
from functools import reduce

from forge_bot.errors import GitFailed, PushRefusal, PushRefused
from forge_bot.git import BranchTips, Repository, Tree
from forge_bot.git.commit_history import Signature, commit_at, commits_with_line, first_commit
from forge_bot.git.commit_objects import empty_tree, make_commit, move_branch, tree_with_folders
from forge_bot.git.remotes import fetch_branch, push_together
from forge_bot.git.revisions import is_ancestor, tree_id
from forge_bot.runs.finding_runs.record_heads import record_commits
from forge_bot.store import RECORD_BRANCHES, SPECS
from forge_bot.store.run_folder import REPORTS
from forge_bot.values import Frozen

_FOLDERS = tuple(name.partition("/")[0] for name in RECORD_BRANCHES)

_KEPT = "Forge-Record"
"""Trailer of a commit that adds a record: the name of the run."""

_US = ("forge-bot", "forge-bot@users.noreply.github.com", "@0 +0000")
_SEVERAL = 2
_TRIES = 20
"""Each one that is lost was won by the record of another run."""

_ours: set[str] = set()
"""Commits of branches of records that are known to have begun as forge-bot begins them."""


class KeptRecord(Frozen):
    """The branch and the commit that have the record of a run; both empty where it stays on the
    run's branch only.
    """

    branch: str = ""
    commit: str = ""
    trouble: str = ""
    """Why the branch of records does not have it, or the remote's, or that in a work tree."""


def record_tips(repository: Repository) -> BranchTips:
    """Return the branches of records and those that block their names, here and at remotes."""
    return repository.tips(only=_FOLDERS)


def newest_records(repository: Repository, tips: BranchTips | None = None) -> str:
    """Return the commit with all records that this clone has; empty without one.

    Diverged branches are merged. A run that recalls from that commit sees the same on any machine.
    """
    tips = tips or record_tips(repository)
    found = set(record_commits(tips).values())
    if len(found) < _SEVERAL:
        return next(iter(found), "")
    first = _first(repository)
    ours = [tip for tip in sorted(found) if is_ancestor(repository.root, first, tip)]
    joined = _joined(repository, ours) if ours else ""
    # Git removes some day what no ref leads to.
    if joined not in (*ours, "") and repository.tree_of(_name(tips)) is None:
        _moved(repository, tips, joined)
    return joined


def recorded_on(repository: Repository, tips: BranchTips | None = None) -> dict[str, str]:
    """Return the runs whose records are kept apart, each with the ref of its record. A local branch
    takes precedence over those of remotes.
    """
    known = reversed(record_commits(tips or record_tips(repository)).items())
    return {name: ref for ref, tip in known for name in repository.list_folders(tip, SPECS)}


def is_kept(repository: Repository, commit: str) -> bool:
    """Return whether a branch of records has a commit of a run."""
    tips = record_commits(record_tips(repository)).values()
    return any(is_ancestor(repository.root, commit, tip) for tip in tips)


def head_of_record(repository: Repository, run: str) -> str:
    """Return the newest commit of a run whose record is kept apart. Raises GitFailed."""
    tips = tuple(record_commits(record_tips(repository)).values())
    for commit in commits_with_line(repository.root, f"{_KEPT}: {run}", tips):
        return commit_at(repository.root, commit).parents[1]
    raise GitFailed(
        f"No commit of the branch {RECORD_BRANCHES[0]} says where the run {run} ended.",
        hint=f"git log {RECORD_BRANCHES[0]} shows what was kept of it.",
    )


def keep_record(
    repository: Repository, run: str, head: str, landed: str, *, push: bool
) -> KeptRecord:
    """Store the record of a run that ended at `head`, and push the branch of records if wanted.

    `landed` is the newest commit that the run offers for merge, or empty. A failure is reported and
    does not stop anything: the record is on the run's branch anyway.
    """
    try:
        return _kept(repository, run, head, landed, push=push)
    except GitFailed as error:
        return KeptRecord(trouble=error.message)


def _kept(repository: Repository, run: str, head: str, landed: str, *, push: bool) -> KeptRecord:
    kept = KeptRecord()
    for _ in range(_TRIES):
        tips = record_tips(repository)
        commit, name = _with_record(repository, tips, run, head, landed), _name(tips)
        here = repository.tree_of(name)
        if here is None and not _moved(repository, tips, commit):
            continue
        trouble = _left_behind(here, name, commit) if here is not None else ""
        kept = KeptRecord(branch=name, commit=commit, trouble=trouble)
        if not push:
            return kept
        try:
            push_together(repository.root, {name: commit})
        except PushRefused as error:
            kept = kept.replace(trouble=error.message)
            if error.why is not PushRefusal.BEHIND:
                return kept
            fetch_branch(repository.root, name)
        else:
            return kept
    return kept


def _with_record(repository: Repository, tips: BranchTips, run: str, head: str, landed: str) -> str:
    """Return a commit with all known records and this one."""
    root, known = repository.root, record_commits(tips)
    for ref, tip in known.items():
        if not _is_ours(repository, tip):
            raise GitFailed(f"{ref} has commits that forge-bot did not make")
    before = _joined(repository, known.values() or (_first(repository),))
    folder = repository.list_folders(head, SPECS).get(run)
    if folder is None:
        raise GitFailed(f"{head[:12]} has no record of {run}")
    there = repository.list_folders(before, SPECS).get(run) if known else None
    parents = tuple(dict.fromkeys(filter(None, (before, head, landed))))
    if there == folder and all(is_ancestor(root, each, before) for each in parents):
        return before
    if there is not None and _started(repository, there) != _started(repository, folder):
        raise GitFailed(f"another run called {run} has its record there")
    tree = tree_with_folders(root, tree_id(root, before), SPECS, {run: folder})
    signature = commit_at(root, head).signature
    made = make_commit(root, tree, parents, f"The record of {run}", ((_KEPT, run),), signature)
    _ours.add(made)
    return made


def _is_ours(repository: Repository, tip: str) -> bool:
    """Return whether forge-bot made a branch of records: its first commit says so.

    Its history is the record of each run, and by the second parents all that is in the repository.
    So only first parents are followed, and only once.
    """
    if tip not in _ours and first_commit(repository.root, tip) == _first(repository):
        _ours.add(tip)
    return tip in _ours


def _first(repository: Repository) -> str:
    """Return the commit that the branch begins with: without files, and the same everywhere."""
    root, said = repository.root, "The records of ended runs"
    return make_commit(root, empty_tree(root), (), said, (), Signature(_US, _US))


def _joined(repository: Repository, commits: Iterable[str]) -> str:
    """Return a commit with all records: one of these commits if it has them, else a merge."""

    def both(ours: str, theirs: str) -> str:
        if is_ancestor(repository.root, theirs, ours):
            return ours
        if is_ancestor(repository.root, ours, theirs):
            return theirs
        return _merge(repository, *sorted((ours, theirs)))

    return reduce(both, dict.fromkeys(commits))


def _merge(repository: Repository, one: str, other: str) -> str:
    """Return a merge of two commits. Each record has a folder of its own; if both commits have a
    record, the one with more reports wins.
    """
    root = repository.root
    there = repository.list_folders(one, SPECS)
    more = {
        name: oid
        for name, oid in repository.list_folders(other, SPECS).items()
        if name not in there or _size(repository, oid) > _size(repository, there[name])
    }
    tree = tree_with_folders(root, tree_id(root, one), SPECS, more)
    newest = max((commit_at(root, each).signature for each in (one, other)), key=repr)
    return make_commit(root, tree, (one, other), "Join records of runs", (), newest)


def _reports(repository: Repository, folder: str) -> bytes:
    return repository.read(folder, REPORTS) or b""


def _size(repository: Repository, folder: str) -> tuple[int, str]:
    return len(_reports(repository, folder)), folder


def _started(repository: Repository, folder: str) -> bytes:
    return _reports(repository, folder).partition(b"\n")[0]


def _left_behind(here: Tree, name: str, commit: str) -> str:
    """Return how to add the commit to a branch that is checked out."""
    way = f"git -C {shlex.quote(str(here.path))} merge {commit[:12]}"
    return f"{name} is checked out and was not moved; this takes the record there: {way}"


def _moved(repository: Repository, tips: BranchTips, commit: str) -> bool:
    """Move the local branch on to a commit that contains it; False if another was faster."""
    name = _name(tips)
    before = tips.local[name].commit if name in tips.local else ""
    return before == commit or move_branch(repository.root, name, commit, before)


def _name(tips: BranchTips) -> str:
    """Return the name of the branch of records that git can have beside the others."""
    others = (*tips.local, *tips.names.at_origin())
    usual, flat = RECORD_BRANCHES
    above = usual.partition("/")[0]
    return flat if any(each == above or each.startswith(f"{usual}/") for each in others) else usual
