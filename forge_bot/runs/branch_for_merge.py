"""The code branch as it is offered for merge, its push, and merges of other people's commits into
the run, from there and from the base branch.

The branch only grows. People's commits on it are merged into the run, whose record is left
unchanged. It is not moved if somebody has it checked out, or if its commits conflict with the run;
the way to add the new commits is printed.
"""

import shlex
from datetime import datetime
from pathlib import Path

from forge_bot.engine.external_events import is_verified, verification
from forge_bot.engine.reports import PeopleCommitted, RetryAsked
from forge_bot.errors import CannotUpdate, UpToDate
from forge_bot.git import Repository
from forge_bot.git.commit_history import commit_at, commits_between
from forge_bot.git.commit_objects import changed_files, make_commit, merge_trees
from forge_bot.git.commits import move_refs
from forge_bot.git.remotes import fetch_branch, push_together
from forge_bot.git.revisions import HEADS, REMOTES, is_ancestor, ref_target
from forge_bot.runs.code_commits import BASE, PEOPLE, RUN, code_branch_moves
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import keep_record
from forge_bot.store.run_folder import SPECS
from forge_bot.text_format import several
from forge_bot.values import Frozen, RunStatus


def newest_base(run: Run) -> str:
    """Return the newest commit of the base branch that the run has: commits from there are no
    change of the run.
    """
    first = run.state.base_commit
    merged = (dict(commit.trailers).get(BASE) for commit in run.tree.commits(first))
    return next(filter(None, merged), first)


def _merge(
    run: Run, head: str, theirs: str, subject: str, trailer: tuple[str, str]
) -> tuple[str, tuple[str, ...]]:
    """Make the commit that merges commits of others into the run, which no branch has yet. Return
    it, or the run's own commit and the files that conflict. Raises GitFailed.
    """
    root, record = run.repository.root, f"{SPECS}/{run.name}/"
    tree, conflicts = merge_trees(root, head, theirs)
    forbidden = [path for path in changed_files(root, head, tree) if path.startswith(record)]
    if conflicts or forbidden:
        return head, tuple(dict.fromkeys((*conflicts, *forbidden)))
    signature, trailers = commit_at(root, head).signature, ((RUN, run.name), trailer)
    return make_commit(root, tree, (head, theirs), subject, trailers, signature), ()


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
    here = ref_target(repository.root, f"{HEADS}{so_far.branch}")
    behind = here is None or not is_ancestor(repository.root, so_far.tip, here)
    return Offer(
        branch=so_far.branch,
        tip=so_far.tip,
        commits=len(commits_between(repository.root, newest_base(run), so_far.tip)),
        left_behind=_way(repository, so_far.branch, so_far.tip) if behind else "",
    )


def take_peoples_commits(run: Run) -> tuple[str, ...]:
    """Merge what people added to the code branch, here and at the remote, into the run, so that new
    work includes it. Return the files that both changed differently, where nothing was merged.
    """
    merged, _, conflicts = _with_peoples_commits(run, run.code_so_far().branch)
    if merged != run.tree.commit_id():
        run.tree.move_forward(merged)
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
        count=len(commits_between(root, head, merged)) - len(theirs),
        merged=merged,
        by=commit_at(root, theirs[-1]).signature.author[0],
    )


def _with_peoples_commits(run: Run, branch: str) -> tuple[str, list[str], tuple[str, ...]]:
    """Return the commit with what people added to the code branch, here and at the remote, their
    newest commits that are new, and the files that both changed differently.
    """
    repository, merged = run.repository, run.tree.commit_id()
    tips = [ref_target(repository.root, f"{start}{branch}") for start in (HEADS, _REMOTE) if branch]
    new, conflicts = list[str](), list[str]()
    for theirs in dict.fromkeys(tip for tip in tips if tip is not None):
        if not is_ancestor(repository.root, theirs, merged):
            words = f"Merge what people added to {branch}"
            before = merged
            merged, unmerged = _merge(run, before, theirs, words, (PEOPLE, branch))
            conflicts += unmerged
            new += [theirs] if merged != before else []
    return merged, new, tuple(dict.fromkeys(conflicts))


def push_run(run: Run, offered: Offer) -> None:
    """Push the run's branch, which has the record, then the code branch. Raises GitFailed."""
    root, branch = run.repository.root, offered.branch
    push_together(root, {run.state.branch: run.tree.commit_id()})
    ahead = ref_target(root, f"{_REMOTE}{branch}") if branch else None
    parted = ahead is not None and not is_ancestor(root, ahead, offered.tip)
    if branch and ahead != offered.tip and not parted:
        push_together(root, {branch: offered.tip})


def push_aside(run: Run, offered: Offer) -> str:
    """Push commits that conflict with people's to a branch beside the offered one; return its name.
    Raises GitFailed.
    """
    name = f"{offered.branch}-{offered.tip[:7]}"
    push_together(run.repository.root, {name: offered.tip})
    return name


def keep_run(run: Run, *, push: bool) -> str:
    """Keep the record of a run that is over; return why that failed, or ""."""
    head = run.tree.commit_id()
    return keep_record(run.repository, run.name, head, offered(run).tip, push=push)


def name_some(paths: tuple[str, ...]) -> str:
    """Return the first of some paths, and how many more there are."""
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"


def _way(repository: Repository, branch: str, tip: str) -> str:
    """The command that takes the commits to the branch, in the work tree that has it."""
    tree = repository.tree_of(branch)
    git = "git" if tree is None else f"git -C {shlex.quote(str(tree.path))}"
    refs = (f"{HEADS}{branch}", f"{_REMOTE}{branch}")
    here, there = (ref_target(repository.root, ref) for ref in refs)
    behind = here and there and not is_ancestor(repository.root, there, here)
    steps = [f"git switch {branch}"] if tree is None else []
    steps += [f"{git} merge origin/{branch}"] if behind else []
    return " && ".join((*steps, f"{git} merge {tip[:12]}"))


def fetch_for_update(run: Run) -> None:
    """Fetch the base branch and the branch for merge, if there is a remote. Raises GitFailed."""
    repository, state = run.repository, run.state
    if repository.remote_url() is not None:
        known = set(repository.remote_branches())
        for branch in {state.base_branch, state.pull_request_branch} & known:
            fetch_branch(repository.root, branch)


def update(
    run: Run, *, key: str, at: datetime, by: str, via: str, base: str = ""
) -> RetryAsked | None:
    """Merge the known commits of people on the offered branch and the new commits of the base
    branch.

    `base` is another base branch than the run's own, if a person gave the pull request another one.
    Return the report that sends the run back to its verification, None if that is still before it.
    Approvals and open questions stay valid: no document changes. Raises CannotUpdate, or UpToDate
    where there is nothing to merge; the run is as it was then.
    """
    state = run.state
    done = state.current_phase_status is RunStatus.COMPLETED
    judging = verification(run.pipeline, state)
    if state.ended and not done:
        raise CannotUpdate(f"The run is over: {state.current_phase_status.value}.")
    if state.gate is not None and judging in state.completed_phases:
        raise CannotUpdate(
            "The change is verified, and a question is open.",
            hint="Answer what it asks first, and update then.",
        )
    take_peoples_commits(run)
    root, base = run.repository.root, base or target_of(run)
    newest, head = _newest(root, base), run.tree.commit_id()
    if not is_ancestor(root, newest, head):
        merged, conflicts = _merge(run, head, newest, f"Merge {base} into the run", (BASE, newest))
        if conflicts:
            raise _contradicted(run, base, conflicts)
        run.tree.move_forward(merged)
    elif not done or len(commit_at(root, head).parents) == 1:
        raise UpToDate(f"The run has all of {base} already.", hint="There is nothing to do.")
    if judging not in state.completed_phases:
        return None
    return RetryAsked(key=key, at=at, phase=judging, by=by, via=via)


def _newest(root: Path, base: str) -> str:
    places = (f"{REMOTES}origin/{base}", f"{HEADS}{base}")
    newest = next(filter(None, (ref_target(root, ref) for ref in places)), None)
    if newest is None:
        raise CannotUpdate(f"There is no branch {base} any more.")
    return newest


def _contradicted(run: Run, base: str, conflicts: tuple[str, ...]) -> CannotUpdate:
    branch = run.state.pull_request_branch or run.state.branch
    remote, push = ("origin/", " and push") if run.repository.remote_url() else ("", "")
    return CannotUpdate(
        f"{base} and the run changed the same lines of {name_some(conflicts)}.",
        hint=(
            f"Nothing was merged. Merge {base} into {branch} by hand (git switch {branch} && "
            f"git merge {remote}{base}), solve it and commit{push}. Then update again: the run "
            "takes your commits and verifies them."
        ),
    )


def target_of(run: Run) -> str:
    """Return the branch that the change goes to: the base branch, or the default branch, where one
    is known, for a run in a person's own branch (`--here`) and where the base branch was deleted or
    renamed.
    """
    state, root = run.state, run.repository.root
    places = (f"{REMOTES}origin/{state.base_branch}", f"{HEADS}{state.base_branch}")
    if not state.here and any(ref_target(root, ref) for ref in places):
        return state.base_branch
    return run.repository.default_branch() or state.base_branch
