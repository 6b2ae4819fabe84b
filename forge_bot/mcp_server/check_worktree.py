"""A separate work tree, in which the project's commands run, beside the client's."""

import threading
from collections.abc import Callable
from typing import TypeVar

from forge_bot.errors import Interrupted
from forge_bot.git import Tree
from forge_bot.mcp_server.agent_prompts import AgentPrompts
from forge_bot.mcp_server.served_folders import RunLocation
from forge_bot.runs.installation import foundation
from forge_bot.runs.notifications import Notify
from forge_bot.runs.project import Project
from forge_bot.runs.run import Run
from forge_bot.sentences import say

Result = TypeVar("Result")


class CheckWorktree:
    """The commands that run for the calls of one server."""

    def __init__(self) -> None:
        self.prompting = AgentPrompts()
        self._closed = False
        self._running: list[tuple[RunLocation, Project]] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the running commands, and start no further ones."""
        with self._lock:
            self._closed = True
            for _, project in self._running:
                project.sandbox.call_off()

    def call_off(self, location: RunLocation) -> None:
        """End the commands that are running for a run whose result is not needed."""
        with self._lock:
            for other, project in self._running:
                if other.key == location.key:
                    project.sandbox.call_off()

    def beside(
        self, run: Run, location: RunLocation, tell: Notify, do: Callable[[Project], Result]
    ) -> Result:
        """Run project commands at the run's last commit; what they leave behind is no affair of the
        client's tree.

        Raises Interrupted, with nothing recorded, when the commands were called off meanwhile.
        """
        repository, home = location.root.repository, run.places.home
        tree = repository.detached_tree(home / "checks", run.tree.head().commit)
        try:
            return self.with_project(run, location, tree, tell, do)
        finally:
            repository.remove_tree(home / "checks")

    def with_project(
        self,
        run: Run,
        location: RunLocation,
        tree: Tree,
        tell: Notify,
        do: Callable[[Project], Result],
    ) -> Result:
        """Run project commands in an existing tree. They must not run in the client's."""
        repository, home = location.root.repository, run.places.home
        spots = run.places.replace(
            environment=home / "checks-environment", judged=home / "checks-judged"
        )
        profile = self.prompting.profile(run)
        project = Project(repository, tree, spots, run.config, profile, tell, foundation(run))
        with self._lock:
            self._check_open()
            self._running.append((location, project))
        try:
            result = do(project)
        finally:
            with self._lock:
                self._running.remove((location, project))
        self._check_open()
        return result

    def _check_open(self) -> None:
        if self._closed:
            raise Interrupted(say("client.check_worktree.server_is_stopping"))
