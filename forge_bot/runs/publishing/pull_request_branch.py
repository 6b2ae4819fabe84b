"""The branch for merge: its name, its commits, and its push.

It only grows. People's commits on it are merged into the run. It is not moved if somebody has it
checked out, or if its commits conflict with the run; the way to add the new commits is printed.
"""

import os
import re
import shlex

from forge_bot.engine.state import State
from forge_bot.errors import GitFailed
from forge_bot.git import BranchNames, Repository
from forge_bot.git.commit_history import count_commits
from forge_bot.git.commit_objects import advance_branch, point
from forge_bot.git.refs import REMOTES
from forge_bot.git.remotes import push_together
from forge_bot.git.revisions import HEADS, is_ancestor, ref_target
from forge_bot.git.signed_commits import find_key
from forge_bot.interaction.change_message import change_of
from forge_bot.runs.finding_runs.ended_runs import KeptRecord, keep_record
from forge_bot.runs.finding_runs.unused_names import free_branch, numbered
from forge_bot.runs.publishing.code_commits import CodeCommits, CodeSoFar
from forge_bot.runs.publishing.merge_into_run import merge_into_run, newest_base
from forge_bot.runs.run import Run
from forge_bot.store import slug
from forge_bot.text_format import several
from forge_bot.values import Frozen, RecordsPolicy

_OFFERED = "refs/forge-bot/offered/"
"""Keeps the newest offered commit of each run, wherever its branch is."""

_REMOTE = f"{REMOTES}origin/"
_SHOWN = 5


class Offer(Frozen):
    """The branch that a run offers for merge; without a name if it changed no code."""

    branch: str = ""
    tip: str = ""
    commits: int = 0
    wanted: str = ""
    left_behind: str = ""
    """The command that takes the new commits to a branch that was not moved."""

    conflicts: tuple[str, ...] = ()
    """The files that people changed there in another way than the run did."""

    @property
    def said(self) -> str:
        """Return a sentence about it for a person."""
        if not self.branch:
            return "no file outside the record changed, so there is no branch to merge"
        told = f"{self.branch} has {several(self.commits, 'commit')} without the run's record"
        if self.branch != self.wanted:
            told += f" (a branch stands in the way of the name {self.wanted})"
        if self.conflicts:
            told += f"; people changed {_some(self.conflicts)} there in another way"
        if self.left_behind:
            told += f"; it was not moved, take the newest ones with: {self.left_behind}"
        return told


def is_separate(state: State) -> bool:
    """Return whether the record of the run stays off the branch that is offered."""
    return state.records is RecordsPolicy.SEPARATE


def offer(run: Run) -> Offer:
    """Make the commits that are missing, and move the branch to them. Raises GitFailed."""
    repository, state = run.repository, run.state
    head = run.tree.commit_id()
    making = _making(run)
    wanted = _wanted(state, change_of(run.pipeline, state, making.documents(head)).type)
    name, branches = state.pull_request_branch, None
    if not name:
        branches = repository.branch_names()
        name = _own(repository, branches, making, wanted)
    code = making.made(_newest(repository, making, state.run, name))
    code, conflicts = _with_people(run, name, code)
    if code.tip == state.base_commit:
        return Offer()
    point(repository.root, f"{_OFFERED}{state.run}", code.tip)
    name = name or _free(repository, branches or repository.branch_names(), wanted)
    return Offer(
        branch=name,
        tip=code.tip,
        commits=count_commits(repository.root, newest_base(run), code.tip),
        wanted=wanted if not state.pull_request_branch else name,
        left_behind=_way(repository, name, code.tip)
        if conflicts
        else _moved(repository, name, code.tip),
        conflicts=conflicts,
    )


def take_peoples_commits(run: Run) -> None:
    """Merge the known commits of people on the offered branch, so that new work includes them.

    Conflicts are left to the next offer, which reports them.
    """
    if name := run.state.pull_request_branch:
        making = _making(run)
        code = making.made(_newest(run.repository, making, run.name, name))
        _with_people(run, name, code, at_once=True)


def _with_people(
    run: Run, branch: str, code: CodeSoFar, *, at_once: bool = False
) -> tuple[CodeSoFar, tuple[str, ...]]:
    """Merge people's commits on the branch, here and at the remote, into the run.

    This happens if the branch lacks commits of the run, or with `at_once`. Return the commits to
    offer, and the files that both changed differently.
    """
    root, conflicts = run.repository.root, list[str]()
    found = [_tip(run.repository, f"{start}{branch}") for start in (HEADS, _REMOTE) if branch]
    for theirs in dict.fromkeys(tip for tip in found if tip is not None):
        if is_ancestor(root, theirs, code.tip):
            continue
        if at_once or not is_ancestor(root, code.tip, theirs):
            since = run.tree.merge_base(code.tip, theirs)
            said = f"Merge what people added to {branch}"
            conflicts += merge_into_run(run, theirs, since, said)
            code = _making(run).made(code)
    return code, tuple(dict.fromkeys(conflicts))


def _making(run: Run) -> CodeCommits:
    """The commits for merge of a run, as its configuration wants them and this machine can sign
    them. Raises BadSigningKey.
    """
    config, repository = run.config, run.repository
    return CodeCommits(
        repository,
        run.pipeline,
        run.state,
        run.tree.commit_id(),
        sign_off=config.sign_off,
        key=find_key(repository.root, os.environ, wanted=config.sign),
    )


def offered(run: Run) -> Offer:
    """Return the run's present offer; nothing is made or moved."""
    repository, state = run.repository, run.state
    name = state.pull_request_branch
    tip = _tip(repository, f"{_OFFERED}{state.run}") if name else None
    here = _tip(repository, f"{HEADS}{name}") if name else None
    tip = tip or here
    if tip is None or tip == state.base_commit:
        return Offer()
    behind = here is not None and not is_ancestor(repository.root, tip, here)
    return Offer(
        branch=name,
        tip=tip,
        commits=count_commits(repository.root, newest_base(run), tip),
        wanted=name,
        left_behind=_way(repository, name, tip) if behind else "",
    )


def push_run(run: Run, offered: Offer) -> None:
    """Push the run's branch and the offered one, both or none. Raises GitFailed."""
    if not is_separate(run.state):
        run.tree.push()
        return
    branches = {run.state.branch: run.tree.commit_id()}
    ahead = _tip(run.repository, f"{_REMOTE}{offered.branch}") if offered.branch else None
    parted = ahead is not None and not is_ancestor(run.repository.root, ahead, offered.tip)
    if offered.branch and ahead != offered.tip and not parted:
        branches[offered.branch] = offered.tip
    push_together(run.repository.root, branches)


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


def _wanted(state: State, kind: str) -> str:
    """The name that the branch of a run should have: the type of the change, and the rest of the
    name of the run's branch. A title such as `fix: …` states the type once more.
    """
    kept = state.branch.rpartition("/")[2].removeprefix("feature-")
    kept = re.sub(rf"^((?:{re.escape(slug(state.source.id))}-)?){kind}-", r"\1", kept)
    return f"{kind}/{kept}"


def _own(repository: Repository, branches: BranchNames, making: CodeCommits, wanted: str) -> str:
    """Return the branch that an earlier attempt made, here or at the remote, without recording it;
    empty without one.
    """
    flat = wanted.replace("/", "-")
    for start, names in ((HEADS, branches.local), (_REMOTE, branches.at_origin())):
        for name in names:
            tip = _tip(repository, f"{start}{name}") if name.startswith((wanted, flat)) else None
            if tip is not None and making.newest(tip) is not None:
                return name
    return ""


def _free(repository: Repository, branches: BranchNames, wanted: str) -> str:
    """The wanted name, or the next one that no branch has, here or at the remote."""
    remote = set(branches.at_origin())
    free = (free_branch(repository, each, branches) for each in numbered(wanted))
    return next(name for name in free if name not in remote)


def _newest(repository: Repository, making: CodeCommits, run: str, branch: str) -> CodeSoFar | None:
    """The newest commit that was offered, on this machine or at the remote."""
    refs = (f"{_OFFERED}{run}", f"{HEADS}{branch}", f"{_REMOTE}{branch}")
    tips = [tip for ref in refs if branch or ref == refs[0] if (tip := _tip(repository, ref))]
    found = [code for tip in dict.fromkeys(tips) if (code := making.newest(tip)) is not None]
    newest: CodeSoFar | None = None
    for code in found:
        if newest is None or is_ancestor(repository.root, newest.tip, code.tip):
            newest = code
    return newest


def _tip(repository: Repository, ref: str) -> str | None:
    return ref_target(repository.root, ref)


def _moved(repository: Repository, branch: str, tip: str) -> str:
    """Move the branch; or the command that a person can do it with."""
    here = _tip(repository, f"{HEADS}{branch}")
    if here is not None and is_ancestor(repository.root, tip, here):
        return ""
    if repository.is_checked_out(branch):
        return _way(repository, branch, tip)
    try:
        moved = advance_branch(repository.root, branch, tip)
    except GitFailed:
        # Somebody moved it in this moment: it is theirs.
        moved = False
    return "" if moved else _way(repository, branch, tip)


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"


def _way(repository: Repository, branch: str, tip: str) -> str:
    """The command that takes the commits to the branch, in the work tree that has it."""
    tree = next((each.path for each in repository.worktrees() if each.branch == branch), None)
    git = "git" if tree is None else f"git -C {shlex.quote(str(tree))}"
    here, there = _tip(repository, f"{HEADS}{branch}"), _tip(repository, f"{_REMOTE}{branch}")
    behind = here and there and not is_ancestor(repository.root, there, here)
    steps = [f"git switch {branch}"] if tree is None else []
    steps += [f"{git} merge origin/{branch}"] if behind else []
    return " && ".join((*steps, f"{git} merge {tip[:12]}"))
