"""`run_control`: end a run, send it back to a phase, or merge its base branch into it."""

import shlex
from typing import Literal, NamedTuple
from uuid import uuid4

from pydantic import JsonValue

from forge_bot.engine.reports import Answer, Report, RetryAsked
from forge_bot.errors import CannotUpdate, PersonDecides
from forge_bot.mcp_server.client_runs.person_answers import VIA, VIA_CLIENT
from forge_bot.mcp_server.tool_schemas import UIComponent
from forge_bot.runs.local_user import local_user
from forge_bot.runs.phase_names import check_documents, phase_named
from forge_bot.runs.publishing.base_update import fetch_for_update, update
from forge_bot.runs.question import Choice
from forge_bot.runs.run import Run
from forge_bot.runs.session import answer
from forge_bot.runs.typed_answer import PersonAnswer
from forge_bot.runs.wall_clock import now
from forge_bot.values import PhaseId

Operation = Literal["abandon", "retry", "update"]


class RunRequest(NamedTuple):
    """The operation that a client wants for a run."""

    operation: Operation
    phase: str = ""
    notes: str = ""


class PastQuestion(NamedTuple):
    """The question before a run is ended or sent back past the question `action_id`."""

    action_id: str
    message: str
    refusal: PersonDecides
    component: dict[str, JsonValue]


def control_run(
    run: Run, wanted: RunRequest, client: str, confirmed: str = ""
) -> dict[str, JsonValue] | PastQuestion:
    """Do what a client wants with a run.

    Past an open question a person decides: the question for them is returned, and nothing is done.
    `confirmed` is the action id of the question that they let it pass. Raises BadOption,
    NothingToRetry, RunEnded, CannotUpdate.
    """
    target = phase_named(run.pipeline, wanted.phase) if wanted.phase else run.state.current_phase
    if wanted.operation == "retry":
        check_documents(run, target)
    asked = run.state.gate is not None and wanted.operation != "update"
    if asked and confirmed != run.action.action_id:
        return _past_question(run, wanted, target)
    by = local_user() if confirmed else f"{client or 'an MCP client'}, unverified"
    if report := _report(run, wanted, target, by, VIA_CLIENT if confirmed else VIA):
        run.tell(report)
    state = run.state
    done = "nothing is left to do; the branch stays"
    return {
        "workspace": run.workspace.relative,
        "operation": wanted.operation,
        "current_phase": state.current_phase,
        "status": state.current_phase_status.value,
        "instruction": done if state.ended else "call pipeline_next_action",
    }


def _report(run: Run, wanted: RunRequest, target: PhaseId, by: str, via: str) -> Report | None:
    """Return the report that asks for it; None where nothing is to be updated."""
    if wanted.operation == "abandon":
        return answer(run, PersonAnswer(answer=Answer.ABANDON, notes=wanted.notes), via, by=by)
    key = f"{wanted.operation}-{uuid4().hex}"
    if wanted.operation == "retry":
        return RetryAsked(key=key, at=now(), phase=target, notes=wanted.notes, by=by, via=via)
    fetch_for_update(run)
    if not run.state.ended and run.state.gate is None:
        raise CannotUpdate("The run is not done yet, and its step is under way.")
    return update(run, key=key, at=now(), by=by, via=via)


def _past_question(run: Run, wanted: RunRequest, target: PhaseId) -> PastQuestion:
    """Return the question about `wanted`, and the refusal if a client cannot ask its person."""
    state, operation = run.state, wanted.operation
    gate = state.gate.name if state.gate is not None else state.current_phase
    does = "end the run" if operation == "abandon" else f"send the run back to {target}"
    stays = "the question stays open"
    message = (
        f"## {state.title}\n\nThe run {run.name} waits for an answer at {gate}. The client's model"
        f" wants to {does}, without that answer. The run's branch stays.\n\n- `{operation}`:"
        f" {does}\n- decline: {stays}"
    )
    if wanted.notes.strip():
        message = f"{message}\n\nNotes for it: {wanted.notes}"
    phase = [target] if operation == "retry" else []
    root = str(run.repository.root)
    typed = shlex.join(["forge-bot", operation, "--run", run.name, "--repo", root, *phase])
    component = UIComponent(
        kind="confirmation",
        title="Past an open question",
        data={"run": run.name, "gate": gate, "notes": wanted.notes},
        actions=(
            Choice(answer=operation, effect=does),
            Choice(answer="decline", effect=stays),
        ),
    )
    return PastQuestion(
        action_id=run.action.action_id,
        message=message,
        component=component.shown,
        refusal=PersonDecides(
            f"The run {run.name} waits for an answer at {gate}. To {does} without it is the"
            " person's to decide.",
            hint=f"Show them the question. They can type at a terminal: {typed}",
        ),
    )
