"""Open a run in the tree of its client: on its branch, one call at a time, without touching the
client's files.
"""

import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from itertools import takewhile

from forge_bot.engine import Checkpoint, Done, HumanGate, SpawnAgent
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import ForeignCommits, ForgeError, RunBusy, WrongBranch
from forge_bot.git.revisions import under_way
from forge_bot.mcp_server.client_runs.client_tree import read_head_at_dispatch
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_results import AtNode
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.open_run import open_run
from forge_bot.runs.run import Run
from forge_bot.store import Workspace

_PATIENCE = 20.0
"""Seconds that a call waits for another process to let go of the run."""

_PAUSE = 0.05
_SHORT = 12
_SHOWN = 10
_KEEPS = "keeps the changes; then report again: the run commits by itself."

Turns = dict[str, threading.Lock]
"""Locks by the names of runs, which let each run of this process have one call at a time."""


@contextmanager
def hold_client_run(
    served: ServedRepository, info: RunInfo, turns: Turns, *, ending: bool = False
) -> Generator[Run]:
    """Hold the run for one call.

    With `ending`, other commits do not matter. Raises WrongBranch, RunBusy if another process holds
    it, and the errors of opening a run. An error while it is held is raised as AtNode, with that
    error as its cause.
    """
    with turns.setdefault(info.name, threading.Lock()), ExitStack() as stack:
        _check_branch(served, info)
        run = _open_when_free(served, info, stack, ending=ending)
        try:
            yield run
        except ForgeError as error:
            raise _locate_error(run) from error


def _locate_error(run: Run) -> AtNode:
    action = run.action
    if not isinstance(action, SpawnAgent):
        return AtNode(action.phase)
    several = action.parallel_task_ids is not None and len(action.parallel_task_ids) > 1
    return AtNode(action.phase if several else action.output_file, action.input_files)


def _open_when_free(
    served: ServedRepository, info: RunInfo, stack: ExitStack, *, ending: bool
) -> Run:
    until = time.monotonic() + _PATIENCE
    opened = (served.repository, info, served.config)
    check = None if ending else check_foreign_commits
    while True:
        try:
            return stack.enter_context(open_run(*opened, external_worktree=True, check=check))
        except RunBusy:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


def check_foreign_commits(run: Run) -> tuple[str, ...]:
    """Return notices about commits that others made on the branch. Raises ForeignCommits where they
    may not stay.

    Where a person is asked to do something, they may commit it, and at a checkpoint they may edit
    documents. While an agent is at work, nobody commits, and nobody rewrites the branch.
    """
    if run.tree.beside:
        _check_beside(run)
    here, known = run.tree.commit_id(), read_head_at_dispatch(run.places)
    if known and not run.repository.contains(here, known):
        raise _explain_rewrite(run, known[:_SHORT], here)
    commits = run.tree.commits(known or run.state.base_commit)
    foreign = tuple(
        takewhile(lambda commit: ("Forge-Run", run.name) not in commit.trailers, commits)
    )
    if not foreign:
        return ()
    names = ", ".join(f"{commit.id[:7]} {commit.subject}" for commit in foreign[:_SHOWN])
    before = run.repository.commit_id(f"{foreign[-1].id}^")
    asked = isinstance(run.action, Checkpoint)
    record = f"{run.workspace.relative}/"
    if asked and all(path.startswith(record) for path in run.tree.changed(before, here)):
        return ()
    published = asked and run.repository.at_a_remote(run.state.branch, here)
    if published or isinstance(run.action, Done | HumanGate):
        return (f"commits that the run did not make are on its branch now: {names}",)
    raise ForeignCommits(
        f"The branch has commits that the run did not make: {names}.",
        hint=f"git reset --soft {before[:_SHORT]} {_KEEPS}",
    )


def _check_beside(run: Run) -> None:
    """Raise ForeignCommits where the branch for merge got commits while an agent is at work."""
    there, so_far = run.repository.head().commit, run.code_so_far()
    if isinstance(run.action, SpawnAgent) and not run.repository.contains(
        run.tree.commit_id(), there
    ):
        raise ForeignCommits(
            f"{so_far.branch} has commits that the run did not make.",
            hint=f"git reset --soft {so_far.tip[:_SHORT]} {_KEEPS}",
        )


def _explain_rewrite(run: Run, known: str, here: str) -> ForeignCommits:
    if run.repository.contains(run.repository.commit_id(known), here):
        return ForeignCommits(
            f"The branch was taken back from {known} to {here[:_SHORT]}.",
            hint=f"git merge --ff-only {known}, then call again.",
        )
    return ForeignCommits(
        f"The branch was rewritten: {known} is no longer on it.",
        hint=f"git reset --soft {known} {_KEEPS}",
    )


def _check_branch(served: ServedRepository, info: RunInfo) -> None:
    """Check that the run's branch is checked out. If it does not exist yet, create it where the run
    began.
    """
    repository, branch = served.repository, info.at_client
    head = repository.head()
    if head.branch in {branch, info.branch}:
        return
    words = f"The run is on {branch}, but {head.branch} is checked out in {served.path}."
    if repository.branch_exists(branch):
        raise WrongBranch(words, hint=f"git switch {branch}, then call again.")
    workspace = Workspace(served.path, info.name)
    first = workspace.reports()[0]
    base = first.base_commit if isinstance(first, RunStarted) else head.commit
    if (operation := under_way(served.path)) is not None:
        raise WrongBranch(
            f"{words} A {operation.name} is under way, so the branch cannot be made.",
            hint=operation.way_out,
        )
    if head.commit != base:
        raise WrongBranch(
            words,
            hint=(
                f"It begins at another commit: git switch -c {branch} {base[:12]}, then call again."
            ),
        )
    repository.start_branch(branch)
