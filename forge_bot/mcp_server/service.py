"""The tools as plain functions, independent of the protocol."""

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from forge_bot.engine import Checkpoint, HumanGate
from forge_bot.engine.reports import Answer
from forge_bot.errors import AskedElsewhere, BadArguments, CannotUpdate, PersonDecides, WrongAction
from forge_bot.gate.grammar import NAMED, Mistyped, Retry, Update
from forge_bot.gate.parse_comment import read_command
from forge_bot.mcp_server.client_runs.client_actions import ClientAction, next_for_client
from forge_bot.mcp_server.client_runs.client_reports import record_client_report
from forge_bot.mcp_server.client_runs.client_tree import check_foreign_commits
from forge_bot.mcp_server.client_runs.person_answers import (
    VIA,
    find_earlier_answer,
    pass_on_answer,
    record_answer,
)
from forge_bot.mcp_server.client_runs.pipeline_init import handle_init
from forge_bot.mcp_server.client_runs.pipeline_init_with_context import BeforeRun, Confirmations
from forge_bot.mcp_server.queries import Queries
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_schemas import PhaseReport, Previous, ReportResult
from forge_bot.runs.notifications import Notify
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import Giver, PersonAnswer, report_of

_NOTHING_NEW = (
    "nothing new was there to record, or it was recorded before; what is outstanding is below"
)


class Service:
    """Serves the runs of a repository to clients. Its functions may be called from several threads
    at once.
    """

    def __init__(self, folder: Path | None, *, by_path: bool = False) -> None:
        self.by_path = by_path
        self.served = ServedRepository(folder)
        self.queries = Queries(self.served)
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
            result, warnings = self._reported(run, previous)
            if text := previous.user_response.strip():
                if asks_itself and isinstance(run.action, Checkpoint | HumanGate):
                    raise AskedElsewhere(
                        "This client asks its person by itself, so an answer that the model passes"
                        " on does not count."
                    )
                digest, action_id = previous.digest, previous.action_id
                warnings = [pass_on_answer(run, text, digest, action_id, client)]
            action = next_for_client(run, tell, by_path=self.by_path)
            return action.with_report(result, [*run.notices, *warnings])

    def _reported(self, run: Run, previous: Previous) -> tuple[ReportResult | None, list[str]]:
        """Record a report. Return its effect, or warnings where it has none."""
        if not previous.is_report:
            return None, []
        if (recorded := self._record(run, previous)) is not None:
            self._results[run.name] = (previous, recorded.result)
            return recorded.result, []
        before, result = self._results.get(run.name, (None, None))
        # A question that is a round of its own comes back with the report before it.
        if before == previous and isinstance(run.action, Checkpoint | HumanGate):
            return result, []
        return None, [_NOTHING_NEW]

    def answer_gate(
        self, workspace: str, asked: ClientAction, answer: str, notes: str, tell: Notify
    ) -> ClientAction:
        """Return the next action after an answer of the client's person, which counts for the
        question that was asked.
        """
        reply = PersonAnswer(answer=Answer(answer), notes=notes.replace("\0", ""))
        digest = asked.question.data.digest if asked.question is not None else ""
        with self._run(workspace) as run:
            warning = record_answer(run, asked.action_id, reply, digest, cut=bool(asked.cut))
            action = next_for_client(run, tell, by_path=self.by_path)
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
            recorded = self._record(run, previous)
            return recorded or PhaseReport(
                state_updated=False,
                warning="this was recorded before, or is done by forge-bot itself",
            )

    def control(
        self, workspace: str, operation: str, phase: str, notes: str, client: str
    ) -> dict[str, JsonValue]:
        """`run_control`: end a run, send it back, or merge its base branch into it."""
        with self._run(workspace, ending=operation == "abandon") as run:
            return control_run(run, operation, phase, notes.replace("\0", ""), client)

    def _run(self, workspace: str, *, ending: bool = False) -> AbstractContextManager[Run]:
        return self.served.held_run(workspace, None if ending else check_foreign_commits)

    def _record(self, run: Run, previous: Previous) -> PhaseReport | None:
        if previous.action_id and find_earlier_answer(run, previous.action_id):
            return None
        return record_client_report(run, previous)


def control_run(
    run: Run, operation: str, phase: str, notes: str, client: str
) -> dict[str, JsonValue]:
    """Give a run what a client wants. Raises BadArguments, PersonDecides while a question is open,
    BadOption, NothingToRetry, RunEnded, CannotUpdate.
    """
    command = (
        Retry(phase or None, notes)
        if operation == "retry"
        else read_command(operation, notes if NAMED[operation].takes else "", "")
    )
    if isinstance(command, Mistyped):
        raise BadArguments(command.hint)
    if isinstance(command, Update) and not run.state.ended and run.state.gate is None:
        raise CannotUpdate("The run is not done yet, and its step is under way.")
    if run.state.gate is not None and not isinstance(command, Update):
        _refuse(run, operation, phase)
    if report := report_of(run, command, Giver(f"{client or 'an MCP client'}, unverified", VIA)):
        run.tell(report)
    state = run.state
    done = "nothing is left to do; the branch stays"
    return {
        "workspace": run.workspace.relative,
        "operation": operation,
        "current_phase": state.current_phase,
        "status": state.current_phase_status.value,
        "instruction": done if state.ended else "call pipeline_next_action",
    }


def _refuse(run: Run, operation: str, phase: str) -> None:
    """Leave it to the person to pass an open question by. Raises PersonDecides."""
    state = run.state
    gate = state.gate.name if state.gate is not None else state.current_phase
    root = str(run.repository.root)
    words = [phase] if phase else []
    typed = shlex.join(["forge-bot", operation, "--run", run.name, "--repo", root, *words])
    raise PersonDecides(
        f"The run {run.name} waits for an answer at {gate}. Only the person may pass that by with"
        f" {operation}.",
        hint=f"Show them the question. They can type at a terminal: {typed}",
    )
