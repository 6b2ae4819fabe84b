"""Where our own process does its part: prompts, and the project's commands in a tree beside the client's."""

import threading
from collections.abc import Callable

from forge_bot.engine.reports import Report
from forge_bot.errors import Interrupted
from forge_bot.mcp_server.prompting import Prompting
from forge_bot.mcp_server.roots import Spot
from forge_bot.runs.notices import Tell
from forge_bot.runs.project import Project
from forge_bot.runs.run import Run


class Workshop:
    """What the calls of one server share."""

    def __init__(self) -> None:
        self.prompting = Prompting()
        self._closed = False
        self._running: list[Project] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the commands that are running; none starts any more."""
        with self._lock:
            self._closed = True
            for project in self._running:
                project.call_off()

    def beside(self, run: Run, spot: Spot, tell: Tell, do: Callable[[Project], Report]) -> Report:
        """Run project commands at the run's last commit; what they leave behind is no affair of the client's tree.

        Raises Interrupted, with nothing recorded, when the server was closed meanwhile.
        """
        repository, home = spot.root.repository, run.places.home
        tree = repository.detached_tree(home / "checks", run.tree.head().commit)
        # What setup installs may know its tree by its path.
        spots = run.places.model_copy(update={"environment": home / "checks-environment"})
        profile = self.prompting.profile(repository, run.state.base_commit, run.config)
        project = Project(repository, tree, spots, run.config, profile, tell)
        with self._lock:
            self._check_open()
            self._running.append(project)
        try:
            report = do(project)
        finally:
            with self._lock:
                self._running.remove(project)
            repository.remove_tree(home / "checks")
        self._check_open()
        return report

    def _check_open(self) -> None:
        # What a command that was called off returned says nothing about the project.
        if self._closed:
            raise Interrupted("The server was told to stop while the project's commands ran.")
