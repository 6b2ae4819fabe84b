"""The work tree of an agent: the run's own, or for a task in a wave a separate one, which does not
change while other tasks are merged.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from forge_bot.agent.providers.context import ProviderContext
from forge_bot.git import Tree
from forge_bot.runs.base_graph import graph_reader
from forge_bot.runs.leftovers import remove_task_tree
from forge_bot.runs.project_commands.commands_for_models import (
    interpreter_of,
    lint,
    run_snippet,
    run_tests,
)
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.values import TaskId
from forge_bot.verification.judgement import going_without_setup


@dataclass(frozen=True)
class AgentWorktree:
    """A tree, what may be looked up in it, and the commit it shows."""

    tree: Tree
    context: ProviderContext
    commit: str


class AgentWorktrees:
    """The work trees of the agents of one run."""

    def __init__(self, run: Run, project: Project, past_runs: Callable[[str], str]) -> None:
        self.run = run
        self.project = project
        self.past_runs = past_runs
        self._context = self._looking_into(run.tree, project)

    @property
    def own(self) -> AgentWorktree:
        """Return the run's own tree at its current commit."""
        return AgentWorktree(self.run.tree, self._context, self.run.ref)

    def catalogue(self) -> ProviderContext:
        return self._context

    @asynccontextmanager
    async def apart(self, task: TaskId, commit: str) -> AsyncGenerator[AgentWorktree]:
        """Make a separate tree for one task at a commit, for the time of the block."""
        path = self.run.places.tasks / task
        tree = await asyncio.to_thread(self.run.repository.detached_tree, path, commit)
        try:
            yield AgentWorktree(tree, self._looking_into(tree, self.project.in_tree(tree)), commit)
        finally:
            await asyncio.to_thread(remove_task_tree, self.run.repository, path)

    def _looking_into(self, tree: Tree, project: Project) -> ProviderContext:
        return ProviderContext(
            tree.path,
            base=self.run.state.base_commit,
            graph=graph_reader(self.run.repository, self.run.state.base_commit, tree.path),
            past_runs=self.past_runs,
            run_tests=self._running(run_tests, project) if project.profile.commands.test else None,
            lint_check=self._running(lint, project) if project.profile.commands.lint else None,
            run_snippet=self._trying(project) if interpreter_of(project) else None,
            withheld=project.config.carry,
        )

    def _trying(self, project: Project) -> Callable[[str], str]:
        """Return what runs a snippet for an agent, at the run's base commit."""
        base = self.run.state.base_commit

        def trying(code: str) -> str:
            left_out = going_without_setup(self.run.state.unusable)
            return (
                f"Nothing can run here: {left_out}"
                if left_out
                else run_snippet(project, base, code)
            )

        return trying

    def _running(
        self, run: Callable[[Project, Sequence[str]], str], project: Project
    ) -> Callable[[Sequence[str]], str]:
        """Return what runs commands for an agent, unless a person agreed to go on without setup."""

        def running(paths: Sequence[str]) -> str:
            left_out = going_without_setup(self.run.state.unusable)
            return f"Nothing can run here: {left_out}" if left_out else run(project, paths)

        return running
