"""The tools of the loop as plain functions, independent of the protocol."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.errors import AskedElsewhere, WrongAction
from forge_bot.mcp_server.client_runs.check_worktree import CheckWorktree, ClientTries
from forge_bot.mcp_server.client_runs.client_actions import ClientAction, next_for_client
from forge_bot.mcp_server.client_runs.client_reports import record_client_report
from forge_bot.mcp_server.client_runs.client_run import Turns, hold_client_run
from forge_bot.mcp_server.client_runs.person_answers import (
    find_earlier_answer,
    pass_on_answer,
    record_answer,
)
from forge_bot.mcp_server.client_runs.pipeline_init import handle_init
from forge_bot.mcp_server.client_runs.pipeline_init_with_context import BeforeRun, Confirmations
from forge_bot.mcp_server.graph_answers import GraphAnswers
from forge_bot.mcp_server.queries import Queries
from forge_bot.mcp_server.run_control import Operation, control_run
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_schemas import PhaseReport, Previous, ReportResult
from forge_bot.runs.answers import PersonAnswer
from forge_bot.runs.notifications import Notice, Notify
from forge_bot.runs.run import Run


class Service:
    """Serves the runs of a repository to clients. Its functions may be called from several threads
    at once.
    """

    def __init__(self, folder: Path | None, *, by_path: bool = False) -> None:
        self.by_path = by_path
        self.served = ServedRepository(folder)
        self.graphs = GraphAnswers(self.served)
        self.queries = Queries(self.served, self.graphs)
        self.commands = CheckWorktree()
        self._turns: Turns = {}
        self._confirming = Confirmations()
        self._results: dict[str, tuple[Previous, ReportResult]] = {}

    def init(
        self, arguments: str, current_branch: str, opened: Sequence[Path] = ()
    ) -> dict[str, JsonValue]:
        """Carry out `pipeline_init`; `opened` are the client's open folders, if requested."""
        self.served.open(opened)
        return handle_init(self.served, arguments, current_branch, os.environ)

    def init_with_context(self, given: Mapping[str, Any]) -> BeforeRun:
        """`pipeline_init_with_context`, with its arguments by name. Raises ValidationError for
        those that do not fit.
        """
        return self._confirming.answer(self.served, given)

    def next_action(
        self,
        workspace: str,
        given: Mapping[str, Any],
        client: str,
        tell: Notify,
        *,
        asks_itself: bool = False,
    ) -> ClientAction:
        """`pipeline_next_action`: record the report, perform our own actions, return the next."""
        previous = Previous.model_validate(given)
        with self._run(workspace) as run:
            result, warnings = self._reported(run, previous, tell)
            if text := previous.user_response.strip():
                if asks_itself and isinstance(run.action, Checkpoint | HumanGate):
                    raise AskedElsewhere(
                        "This client asks its person by itself, so an answer that the model passes"
                        " on does not count."
                    )
                digest, action_id = previous.digest, previous.action_id
                warnings = [pass_on_answer(run, text, digest, action_id, client)]
            action = next_for_client(run, self.commands, tell, by_path=self.by_path)
            return action.with_report(result, [*run.notices, *warnings])

    def _reported(
        self, run: Run, previous: Previous, tell: Notify
    ) -> tuple[ReportResult | None, list[str]]:
        """Record a report. Return its effect, or warnings where it has none."""
        if not previous.is_report:
            return None, []
        if (recorded := self._record(run, previous, tell)) is not None:
            self._results[run.name] = (previous, recorded.result)
            return recorded.result, []
        before, result = self._results.get(run.name, (None, None))
        # A question that is a round of its own comes back with the report before it.
        if before == previous and isinstance(run.action, Checkpoint | HumanGate):
            return result, []
        return None, [_NOTHING_NEW]

    def answer_gate(
        self,
        workspace: str,
        asked: ClientAction,
        reply: PersonAnswer,
        tell: Notify,
    ) -> ClientAction:
        """Return the next action after an answer of the client's person, which counts for the
        question that was asked.
        """
        digest = asked.question.data.digest if asked.question is not None else ""
        with self._run(workspace) as run:
            warning = record_answer(run, asked.action_id, reply, digest, cut=bool(asked.cut))
            action = next_for_client(run, self.commands, tell, by_path=self.by_path)
            return action.with_report(asked.report, [*run.notices, warning])

    def report_result(self, workspace: str, phase: str, given: Mapping[str, Any]) -> PhaseReport:
        """`pipeline_report_result`: record the report without returning the next action."""
        previous = Previous.model_validate(given)
        with self._run(workspace) as run:
            action_id = run.action.action_id
            if run.action.phase != phase and not previous.action_id:
                if phase in run.state.completed_phases:
                    warning = f"{phase} is complete already; {action_id} is outstanding"
                    return PhaseReport(state_updated=False, warning=warning)
                raise WrongAction(f"{phase} was reported, but {action_id} is outstanding.")
            recorded = self._record(run, previous, _show_nothing)
            return recorded or PhaseReport(
                state_updated=False,
                warning="this was recorded before, or is done by forge-bot itself",
            )

    def control(
        self, workspace: str, operation: Operation, phase: str, notes: str, client: str
    ) -> dict[str, JsonValue]:
        """`run_control`: end a run, send it back, or merge its base branch into it."""
        ending = operation == "abandon"
        if ending:
            self.commands.call_off(self.served.run_here(workspace).name)
        with self._run(workspace, ending=ending) as run:
            return control_run(run, operation, phase, notes.replace("\0", ""), client)

    def _run(self, workspace: str, *, ending: bool = False) -> AbstractContextManager[Run]:
        info = self.served.run_here(workspace)
        return hold_client_run(self.served, info, self._turns, ending=ending)

    def _record(self, run: Run, previous: Previous, tell: Notify) -> PhaseReport | None:
        if isinstance(run.action, Checkpoint | HumanGate) and not previous.action_id:
            return None
        if previous.action_id and find_earlier_answer(run, previous.action_id):
            return None
        return record_client_report(run, previous, ClientTries(self.commands, tell))


def _show_nothing(_notice: Notice) -> None:
    """Ignore progress, for calls that cannot show it."""


_NOTHING_NEW = (
    "nothing new was there to record, or it was recorded before; what is outstanding is below"
)
