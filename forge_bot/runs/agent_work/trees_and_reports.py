"""The work tree of an agent and the report on its work. The tree is the run's own, or for a task in
a wave a separate one, which does not change while other tasks are merged. The report has the
applied answer, the calls that it asks for, or the reason why there is none.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from typing import TypeVar

from forge_bot.agent.assignment import StopReason, WorkResult, place_of, with_tries
from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.journal import Journal
from forge_bot.agent.model_answers import Change
from forge_bot.agent.providers.context import RUN_SNIPPET, ProviderContext, RunSnippet
from forge_bot.engine import SpawnAgent
from forge_bot.engine.phases import DRAFT
from forge_bot.engine.reports import (
    AgentFailed,
    ArtifactWritten,
    CallsRequested,
    FailureReason,
    head_of,
)
from forge_bot.errors import GitFailed
from forge_bot.git import MergeConflict, Tree
from forge_bot.git.commit_objects import commit_of_patch
from forge_bot.runs.agent_work.apply_output import OutputApplier
from forge_bot.runs.capabilities.outside_capabilities import OutsideCapabilities
from forge_bot.runs.capabilities.perform_calls import calls_requested
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import remove_task_tree
from forge_bot.runs.this_process import now
from forge_bot.text_format import code_block
from forge_bot.values import TaskId
from forge_bot.verification.judgement import going_without_setup

_Given = TypeVar("_Given")


@dataclass(frozen=True)
class AgentWorktree:
    """A tree, what may be looked up in it, and the commit it shows."""

    tree: Tree
    context: ProviderContext
    commit: str


class AgentWorktrees:
    """The work trees of the agents of one run."""

    def __init__(self, run: Run, project: Project) -> None:
        self.run = run
        self.project = project
        self._context = self._looking_into(run.tree, project)

    @property
    def own(self) -> AgentWorktree:
        """Return the run's own tree at its current commit."""
        return AgentWorktree(self.run.tree, self._context, self.run.ref)

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
        has_tests = bool(project.profile.commands.test)
        return ProviderContext(
            tree.path,
            run_tests=self._running(project.run_tests) if has_tests else None,
            run_snippet=(
                self._running(partial(self._run_snippet, project)) if project.interpreter else None
            ),
            withheld=project.config.carry,
        )

    def _run_snippet(self, project: Project, wanted: RunSnippet) -> str:
        before = project.run_snippet(self.run.state.base_commit, wanted.code)
        if not wanted.drafted:
            return before
        head, draft = self.run.tree.head().commit, self.run.workspace.read_bytes(DRAFT)
        try:
            made = commit_of_patch(self.run.repository.root, head, draft or b"")
        except GitFailed:
            return f"There is no {DRAFT} here that fits the files."
        after = project.run_snippet(made, wanted.code)
        return f"Before the change: {before}\n\n{_compare(before, after)}"

    def _running(self, run: Callable[[_Given], str]) -> Callable[[_Given], str]:
        """Return what runs commands for an agent, unless a person agreed to go on without setup."""

        def running(given: _Given) -> str:
            left_out = going_without_setup(self.run.state.unusable)
            return f"Nothing can run here: {left_out}" if left_out else run(given)

        return running


def _compare(before: str, after: str) -> str:
    """Return the output with the draft: only the lines that differ, if that is shorter."""
    if before == after:
        return f"With {DRAFT}: the same."
    differing = list(unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]
    lines = "\n".join(line for line in differing if not line.startswith("@@"))
    shorter = len(lines) < len(after)
    return f"With {DRAFT}, the lines that differ:\n{lines}" if shorter else f"With {DRAFT}: {after}"


Landed = tuple[ArtifactWritten | AgentFailed | CallsRequested, tuple[str, ...]]
"""A report, and the paths outside the workspace that belong to its commit."""

SNIPPETS = "snippets.md"
"""The document of the record with the snippets that agents had run."""

_WHY: Mapping[StopReason, FailureReason] = {
    StopReason.MODEL_REFUSED: FailureReason.REFUSED,
    StopReason.MODEL_TRUNCATED: FailureReason.TRUNCATED,
    StopReason.MODEL_MALFORMED: FailureReason.MALFORMED,
    StopReason.BUDGET: FailureReason.BUDGET,
}
"""The reason in the report for each end of an agent's work. Every other end is a limit."""


@dataclass(frozen=True, slots=True)
class AgentReports:
    """Makes the reports on agents that have ended."""

    run: Run
    journal: Journal
    applier: OutputApplier
    outside: OutsideCapabilities

    def landed(
        self, action: SpawnAgent, task: TaskId | None, finished: WorkResult, worktree: AgentWorktree
    ) -> Landed:
        """Apply the answer. Return the report on it, and the paths that were changed."""
        report, paths = self._report_work(action, task, finished, worktree)
        self._keep_snippets(action, finished)
        self.journal.leave(place_of(action.action_id, task))
        uses = self.outside.uses(finished.observations)
        return (report.model_copy(update={"uses": uses}) if uses else report), paths

    def _keep_snippets(self, action: SpawnAgent, finished: WorkResult) -> None:
        """Write what an agent tried, and what came of it, into the record."""
        tried = [
            f"## {action.phase}, {one.key}\n\n{code_block(json.loads(one.params)['code'])}\n\n"
            f"{code_block(one.content)}\n"
            for one in finished.observations
            if one.capability == RUN_SNIPPET and one.status is ResultStatus.OK
        ]
        if tried:
            title = "# What agents tried on the code before the change\n"
            before = self.run.artifact(SNIPPETS) or title
            self.run.workspace.write(SNIPPETS, "\n".join((before, *tried)))

    def _report_work(
        self, action: SpawnAgent, task: TaskId | None, finished: WorkResult, worktree: AgentWorktree
    ) -> Landed:
        if finished.calls:
            return calls_requested(self.run, action, task, finished, self.outside.catalogue), ()
        answer, tries = finished.answer or finished.rejected, finished.tries
        if answer is not None and tries:
            text = with_tries(answer.artifact_markdown, tries)
            answer = answer.model_copy(update={"artifact_markdown": text})
        if answer is None:
            reason = _WHY.get(finished.stop, FailureReason.LIMIT)
            return _report_failure(action, task, finished, reason, _why_not(finished)), ()
        if isinstance(answer, Change) and self.applier.plan(answer, worktree.tree).problems:
            unfit = FailureReason.UNFIT
            return _report_failure(action, task, finished, unfit, _why_not(finished)), ()
        try:
            formatted = tries[-1].formatted if tries else ()
            return self.applier.land(action, task, answer, finished.usage, worktree.tree, formatted)
        except MergeConflict as conflict:
            words = (
                "Another task, done at the same time, changed the same place; start from the files"
                f" as they are now. {conflict}"
            )
            failed = FailureReason.CONFLICT
            return _report_failure(action, task, finished, failed, words.strip()), ()


def _report_failure(
    action: SpawnAgent, task: TaskId | None, finished: WorkResult, reason: FailureReason, words: str
) -> AgentFailed:
    return AgentFailed(
        **head_of(action.action_id, now(), task),
        phase=action.phase,
        task=task,
        reason=reason,
        message=words,
        usage=finished.usage,
    )


def _why_not(finished: WorkResult) -> str:
    words = finished.message or f"The agent ended without an answer: {finished.stop.value}."
    last = finished.complaints[0] if finished.complaints else ""
    # A model that gave the same unusable answer to the end is told of in these words already.
    return words if last in words else f"{words} Last complaint: {last}"
