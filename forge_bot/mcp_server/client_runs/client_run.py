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
from forge_bot.mcp_server.served_folders import RunLocation
from forge_bot.mcp_server.tool_results import AtNode
from forge_bot.runs.finding_runs.find_runs import runs
from forge_bot.runs.open_run import open_run, refuse_renamed
from forge_bot.runs.run import Run
from forge_bot.sentences import say
from forge_bot.store import Workspace
from forge_bot.store.run_folder import REPORTS

_PATIENCE = 20.0
"""Seconds that a call waits for another process to let go of the run."""

_PAUSE = 0.05


class Turns:
    """Locks that let each run of this process have one call at a time."""

    def __init__(self) -> None:
        self._locks: dict[str, threading.Lock] = {}
        self._mine = threading.Lock()

    @contextmanager
    def turn(self, key: str) -> Generator[None]:
        """Wait for the run's other calls, then hold it."""
        with self._mine:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            yield


@contextmanager
def client_run(location: RunLocation, turns: Turns, *, ending: bool = False) -> Generator[Run]:
    """Hold the run for one call.

    With `ending`, other commits do not matter. Raises WrongBranch, RunBusy if another process holds
    it, and the errors of opening a run. An error while it is held is raised as AtNode, with that
    error as its cause.
    """
    with turns.turn(location.key), ExitStack() as stack:
        _on_branch(location)
        run = _held(location, stack, ending=ending)
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


def _held(location: RunLocation, stack: ExitStack, *, ending: bool) -> Run:
    config = location.root.config
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return stack.enter_context(
                open_run(
                    location.root.repository,
                    location.info,
                    config,
                    external_worktree=True,
                    ending=ending,
                )
            )
        except RunBusy:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


def _on_branch(location: RunLocation) -> None:
    """Check that the run's branch is checked out. If it does not exist yet, create it where the run
    began.
    """
    repository, info = location.root.repository, location.info
    head = repository.head()
    if head.branch == info.branch:
        return
    said = say(
        "client.client_run.other_branch_is_checked_out",
        branch=info.branch,
        other=head.branch,
        folder=location.root.path,
    )
    if repository.branch_exists(info.branch):
        raise WrongBranch(
            said, hint=say("client.client_run.switch_and_call_again", branch=info.branch)
        )
    for known in runs(repository):
        # A record without a commit belongs to a branch that does not exist yet.
        record = f"{Workspace(location.root.path, info.name).relative}/{REPORTS}"
        if known.name == info.name and known.renamed and repository.read(known.renamed, record):
            refuse_renamed(known)
    first = Workspace(location.root.path, info.name).reports()[0]
    base = first.base_commit if isinstance(first, RunStarted) else head.commit
    if (operation := under_way(location.root.path)) is not None:
        raise WrongBranch(
            say("client.client_run.operation_in_progress", said=said, name=operation.name),
            hint=operation.way_out,
        )
    if head.commit != base:
        raise WrongBranch(
            said,
            hint=(
                say(
                    "client.client_run.begins_at_another_commit", branch=info.branch, base=base[:12]
                )
            ),
        )
    repository.start_branch(info.branch)
