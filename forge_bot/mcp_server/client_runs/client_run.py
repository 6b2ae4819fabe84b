"""Open a run in the tree of its client: on its branch, one call at a time, without touching the
client's files.
"""

import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from forge_bot.engine import SpawnAgent
from forge_bot.engine.reports import RunStarted
from forge_bot.errors import ForgeError, RunBusy, WrongBranch
from forge_bot.git.revisions import under_way
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_results import AtNode
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.open_run import open_run
from forge_bot.runs.run import Run
from forge_bot.store import Workspace

_PATIENCE = 20.0
"""Seconds that a call waits for another process to let go of the run."""

_PAUSE = 0.05

Turns = dict[str, threading.Lock]
"""Locks by the names of runs, which let each run of this process have one call at a time."""


@contextmanager
def client_run(
    served: ServedRepository, info: RunInfo, turns: Turns, *, ending: bool = False
) -> Generator[Run]:
    """Hold the run for one call.

    With `ending`, other commits do not matter. Raises WrongBranch, RunBusy if another process holds
    it, and the errors of opening a run. An error while it is held is raised as AtNode, with that
    error as its cause.
    """
    with turns.setdefault(info.name, threading.Lock()), ExitStack() as stack:
        _check_branch(served, info)
        run = _open(served, info, stack, ending=ending)
        try:
            yield run
        except ForgeError as error:
            raise _placed(run) from error


def _placed(run: Run) -> AtNode:
    action = run.action
    if not isinstance(action, SpawnAgent):
        return AtNode(action.phase)
    several = action.parallel_task_ids is not None and len(action.parallel_task_ids) > 1
    return AtNode(action.phase if several else action.output_file, action.input_files)


def _open(served: ServedRepository, info: RunInfo, stack: ExitStack, *, ending: bool) -> Run:
    until = time.monotonic() + _PATIENCE
    opened = (served.repository, info, served.config)
    while True:
        try:
            return stack.enter_context(open_run(*opened, external_worktree=True, ending=ending))
        except RunBusy:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


def _check_branch(served: ServedRepository, info: RunInfo) -> None:
    """Check that the run's branch is checked out. If it does not exist yet, create it where the run
    began.
    """
    repository, branch = served.repository, info.branch
    head = repository.head()
    if head.branch == branch:
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
