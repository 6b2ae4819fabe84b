"""A separate work tree, in which the project's commands run, beside the client's."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from forge_bot.agent.tries import TryOutcome
from forge_bot.engine import SpawnAgent
from forge_bot.errors import Interrupted
from forge_bot.git import blob_id
from forge_bot.mcp_server.client_runs.agent_prompts import read_profile
from forge_bot.mcp_server.client_runs.client_tree import Dispatch, EditsTried
from forge_bot.runs.agent_work.apply_output import OutputApplier
from forge_bot.runs.edit_checks.edit_tries import EditTries
from forge_bot.runs.notifications import Notify
from forge_bot.runs.project_commands.installation import foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.values import TaskId

Result = TypeVar("Result")


class CheckWorktree:
    """The commands that run for the calls of one server."""

    def __init__(self) -> None:
        self._closed = False
        self._running: list[tuple[str, Project]] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the running commands, and start no further ones."""
        with self._lock:
            self._closed = True
            for _, project in self._running:
                project.sandbox.call_off()

    def call_off(self, run: str) -> None:
        """End the commands that are running for a run whose result is not needed."""
        with self._lock:
            for name, project in self._running:
                if name == run:
                    project.sandbox.call_off()

    def run_beside(self, run: Run, tell: Notify, do: Callable[[Project], Result]) -> Result:
        """Run project commands at the run's last commit; what they leave behind is no affair of the
        client's tree.

        Raises Interrupted, with nothing recorded, when the commands were called off meanwhile.
        """
        profile = read_profile(run)
        project = Project(run.repository, run.tree, run.config, profile, tell, foundation(run))
        with self._lock:
            self._check_open()
            self._running.append((run.name, project))
        try:
            result = do(project)
        finally:
            with self._lock:
                self._running.remove((run.name, project))
        self._check_open()
        return result

    def _check_open(self) -> None:
        if self._closed:
            raise Interrupted("The server was told to stop while the project's commands ran.")


_LINK, _PROGRAM, _PLAIN = "120000", "100755", "100644"


class ClientTries(NamedTuple):
    """The commands that try the edits of a client's agents."""

    commands: CheckWorktree
    tell: Notify

    def try_edits(
        self,
        run: Run,
        action: SpawnAgent,
        dispatch: Dispatch,
        tasks: Sequence[TaskId],
        paths: tuple[str, ...],
    ) -> Dispatch:
        """Return the dispatch with the output of the commands on the current files.

        The commands do not run again on the same bytes, nor on files that wait for a person.
        """
        applier, config = OutputApplier(run), run.config.tries
        if config.most == 0 or not paths or applier.held_paths(tuple(paths)):
            return dispatch
        if any((run.tree.path / path).is_dir() for path in paths):
            # A repository inside of this one.
            return dispatch
        files = tuple((path, applier.in_git(path)) for path in paths)
        modes = {path: _read_mode(run, path) for path, data in files if data is not None}
        digest = _digest_files(files, modes)
        known = next((attempt for attempt in dispatch.tries if attempt.digest == digest), None)
        left = config.seconds - sum(attempt.outcome.seconds for attempt in dispatch.tries)
        if known is None and left <= 0:
            return dispatch
        last = count_sent_back(dispatch) >= config.most

        def run_commands(project: Project) -> TryOutcome:
            tries = EditTries(run, project, self.tell)
            if not tries.possible:
                return TryOutcome()
            outcome = tries.edits(tasks, run.ref, files, left, modes)
            tries.say(tasks, outcome, action.agent, last=last)
            return outcome

        outcome = (
            known.outcome.replace(seconds=0.0)
            if known is not None
            else self.commands.run_beside(run, self.tell, run_commands)
        )
        tries = (*dispatch.tries, EditsTried(digest=digest, outcome=outcome))
        return dispatch.replace(tries=tries)


def count_sent_back(dispatch: Dispatch) -> int:
    """Return how often reports for an action were red."""
    return sum(bool(attempt.outcome.red) for attempt in dispatch.tries)


def _digest_files(files: Sequence[tuple[str, bytes | None]], modes: dict[str, str]) -> str:
    contents = [(path, modes.get(path), data is not None and blob_id(data)) for path, data in files]
    return hashlib.sha256(repr(contents).encode()).hexdigest()


def _read_mode(run: Run, path: str) -> str:
    file = run.tree.path / path
    if file.is_symlink():
        return _LINK
    return _PROGRAM if file.stat().st_mode & 0o100 else _PLAIN
