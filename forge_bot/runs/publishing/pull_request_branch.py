"""The code branch as it is offered for merge, and its push.

It only grows. People's commits on it are merged into the run. It is not moved if somebody has it
checked out, or if its commits conflict with the run; the way to add the new commits is printed.
"""

import shlex

from forge_bot.engine.external_events import is_verified
from forge_bot.engine.reports import PeopleCommitted
from forge_bot.git import Repository
from forge_bot.git.commit_history import commit_at, count_commits
from forge_bot.git.commits import move_refs
from forge_bot.git.refs import REMOTES
from forge_bot.git.remotes import push_together
from forge_bot.git.revisions import HEADS, is_ancestor, ref_target
from forge_bot.runs.code_commits import code_branch_moves
from forge_bot.runs.finding_runs.ended_runs import KeptRecord, keep_record
from forge_bot.runs.publishing.merge_into_run import merge_of_people, newest_base
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import numbered
from forge_bot.text_format import several
from forge_bot.values import Frozen

_REMOTE = f"{REMOTES}origin/"
_SHOWN = 5


class Offer(Frozen):
    """The branch that a run offers for merge; without a name if it changed no code."""

    branch: str = ""
    tip: str = ""
    commits: int = 0
    left_behind: str = ""
    """The command that takes the new commits to a branch that was not moved."""

    conflicts: tuple[str, ...] = ()
    """The files that people changed there in another way than the run did."""

    @property
    def said(self) -> str:
        """Return a sentence about it for a person."""
        if not self.branch:
            return "no file outside the record changed, so there is no branch to merge"
        sentence = f"{self.branch} has {several(self.commits, 'commit')} without the run's record"
        if self.conflicts:
            sentence += f"; people changed {name_some(self.conflicts)} there in another way"
        if self.left_behind:
            sentence += f"; it was not moved, take the newest ones with: {self.left_behind}"
        return sentence


def offer(run: Run) -> Offer:
    """Merge what people added to the code branch, put all work on it, and move it. Raises
    GitFailed.
    """
    conflicts = take_peoples_commits(run)
    run.put_on_code_branch()
    so_far = run.code_so_far()
    if so_far.branch and so_far.tip != run.state.base_commit:
        move_refs(run.repository.root, code_branch_moves(run.repository, so_far.branch, so_far.tip))
    return offered(run).replace(conflicts=conflicts)


def offered(run: Run) -> Offer:
    """Return the run's present offer; nothing is made or moved."""
    repository, so_far = run.repository, run.code_so_far()
    if not so_far.branch or so_far.tip == run.state.base_commit:
        return Offer()
    here = _tip(repository, f"{HEADS}{so_far.branch}")
    behind = here is None or not is_ancestor(repository.root, so_far.tip, here)
    return Offer(
        branch=so_far.branch,
        tip=so_far.tip,
        commits=count_commits(repository.root, newest_base(run), so_far.tip),
        left_behind=_way(repository, so_far.branch, so_far.tip) if behind else "",
    )


def take_peoples_commits(run: Run) -> tuple[str, ...]:
    """Merge what people added to the code branch, here and at the remote, into the run, so that new
    work includes it. Return the files that both changed differently, where nothing was merged.
    """
    merged, _, conflicts = _with_peoples_commits(run, run.code_so_far().branch)
    if merged != run.tree.commit_id():
        run.move_forward(merged)
    return conflicts


def peoples_commits(run: Run) -> PeopleCommitted | None:
    """Return the report that merges what people added to the code branch; None where nothing is new
    or it has to wait. A conflict becomes a notice with the way out.
    """
    state, root = run.state, run.repository.root
    so_far, head = run.code_so_far(), run.tree.commit_id()
    if state.ended or (state.gate is not None and is_verified(run.pipeline, state)):
        return None
    merged, theirs, conflicts = _with_peoples_commits(run, so_far.branch)
    if conflicts:
        begun = so_far.tip != state.base_commit
        way = _way(run.repository, so_far.branch, so_far.tip) if begun else ""
        run.notices.append(
            f"people changed {name_some(conflicts)} on {so_far.branch} in another way than the "
            "run; their commits are not merged yet. "
            + (f"This joins both: {way}" if way else "The next accepted task tries it again.")
        )
    if not theirs:
        return None
    return PeopleCommitted(
        key=f"people-{theirs[-1]}",
        at=run.now(),
        branch=so_far.branch,
        commit=theirs[-1],
        count=count_commits(root, head, merged) - len(theirs),
        merged=merged,
        by=commit_at(root, theirs[-1]).signature.author[0],
    )


def _with_peoples_commits(run: Run, branch: str) -> tuple[str, list[str], tuple[str, ...]]:
    """Return the commit with what people added to the code branch, here and at the remote, their
    newest commits that are new, and the files that both changed differently.
    """
    repository, merged = run.repository, run.tree.commit_id()
    tips = [_tip(repository, f"{start}{branch}") for start in (HEADS, _REMOTE) if branch]
    new, conflicts = list[str](), list[str]()
    for theirs in dict.fromkeys(tip for tip in tips if tip is not None):
        if not is_ancestor(repository.root, theirs, merged):
            merge = merge_of_people(run, branch, merged, theirs)
            conflicts += merge.trees.conflicts
            new += [theirs] if merge.commit != merged else []
            merged = merge.commit
    return merged, new, tuple(dict.fromkeys(conflicts))


def push_run(run: Run, offered: Offer) -> None:
    """Push the run's branch, which has all that was recorded, and then the code branch. Raises
    GitFailed.
    """
    push_together(run.repository.root, {run.state.branch: run.tree.commit_id()})
    ahead = _tip(run.repository, f"{_REMOTE}{offered.branch}") if offered.branch else None
    parted = ahead is not None and not is_ancestor(run.repository.root, ahead, offered.tip)
    if offered.branch and ahead != offered.tip and not parted:
        push_together(run.repository.root, {offered.branch: offered.tip})


def push_aside(run: Run, offered: Offer) -> str:
    """Push commits that conflict with people's to a branch beside the offered one; return its name.
    Raises GitFailed.
    """
    root, base = run.repository.root, run.state.base_commit

    def is_ours(name: str) -> bool:
        there = _tip(run.repository, f"{_REMOTE}{name}")
        return there is None or (
            is_ancestor(root, there, offered.tip) and not is_ancestor(root, there, base)
        )

    _, *beside = numbered(offered.branch)
    name = next(filter(is_ours, beside))
    push_together(root, {name: offered.tip})
    return name


def keep_run(run: Run, *, push: bool) -> KeptRecord:
    """Keep the record of a run that is over."""
    head = run.tree.commit_id()
    return keep_record(run.repository, run.name, head, offered(run).tip, push=push)


def _tip(repository: Repository, ref: str) -> str | None:
    return ref_target(repository.root, ref)


def name_some(paths: tuple[str, ...]) -> str:
    """Return the first of some paths, and how many more there are."""
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"


def _way(repository: Repository, branch: str, tip: str) -> str:
    """The command that takes the commits to the branch, in the work tree that has it."""
    tree = next(
        (worktree.path for worktree in repository.worktrees() if worktree.branch == branch), None
    )
    git = "git" if tree is None else f"git -C {shlex.quote(str(tree))}"
    here, there = _tip(repository, f"{HEADS}{branch}"), _tip(repository, f"{_REMOTE}{branch}")
    behind = here and there and not is_ancestor(repository.root, there, here)
    steps = [f"git switch {branch}"] if tree is None else []
    steps += [f"{git} merge origin/{branch}"] if behind else []
    return " && ".join((*steps, f"{git} merge {tip[:12]}"))
