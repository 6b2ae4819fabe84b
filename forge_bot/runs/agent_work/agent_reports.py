"""The report on an agent's work: its applied answer, the calls that it asks for, or the reason why
there is none.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from forge_bot.agent.assignment import StopReason, WorkResult, place_of
from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.journal import Journal
from forge_bot.agent.providers.context import RUN_SNIPPET
from forge_bot.agent.tries import with_tries
from forge_bot.engine import SpawnAgent
from forge_bot.engine.reports import (
    AgentFailed,
    ArtifactWritten,
    CallsRequested,
    FailureReason,
    head_of,
)
from forge_bot.git import MergeConflict
from forge_bot.runs.agent_work.agent_worktree import AgentWorktree
from forge_bot.runs.agent_work.apply_output import OutputApplier
from forge_bot.runs.capabilities.outside_capabilities import OutsideCapabilities
from forge_bot.runs.capabilities.tool_effects import calls_requested
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now
from forge_bot.text_format import code_block
from forge_bot.values import TaskId

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
            place = (action.phase, task)
            return (
                calls_requested(
                    self.run,
                    action.action_id,
                    place,
                    finished.calls,
                    self.outside.catalogue,
                    finished.usage,
                ),
                (),
            )
        answer, tries = finished.answer or finished.rejected, finished.tries
        if answer is not None and tries:
            text = with_tries(answer.artifact_markdown, tries)
            answer = answer.model_copy(update={"artifact_markdown": text})
        if answer is None or self.applier.unplaceable(answer, worktree.tree):
            reason = (
                FailureReason.UNFIT
                if answer is not None
                else _WHY.get(finished.stop, FailureReason.LIMIT)
            )
            return _report_failure(action, task, finished, reason, _why_not(finished)), ()
        try:
            formatted = tries[-1].formatted if tries else ()
            return self.applier.land(action, task, answer, finished.usage, worktree.tree, formatted)
        except MergeConflict as conflict:
            words = (
                "Another task, done at the same time, changed the same place; start from the files"
                f" as they are now. {conflict}"
            )
            return _report_failure(
                action, task, finished, FailureReason.CONFLICT, words.strip()
            ), ()


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
