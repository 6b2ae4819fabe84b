"""`run_control`: end a run, send it back to a phase, or merge its base branch into it."""

import shlex
from typing import Literal
from uuid import uuid4

from pydantic import JsonValue

from forge_bot.engine.reports import Answer, Report, RetryAsked
from forge_bot.errors import CannotUpdate, PersonDecides
from forge_bot.mcp_server.client_runs.person_answers import VIA
from forge_bot.runs.answers import PersonAnswer, answer
from forge_bot.runs.branch_for_merge import fetch_for_update, update
from forge_bot.runs.follow_up import Wanted, make_follow_up, offers_change
from forge_bot.runs.invocation_end import check_documents, phase_named
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now
from forge_bot.values import PhaseId

Operation = Literal["abandon", "retry", "update"]


def control_run(
    run: Run, operation: Operation, phase: str, notes: str, client: str
) -> dict[str, JsonValue]:
    """Do what a client wants with a run. Raises PersonDecides while a question is open, BadOption,
    NothingToRetry, RunEnded, CannotUpdate.
    """
    target = phase_named(run.pipeline, phase) if phase else run.state.current_phase
    if operation == "retry":
        check_documents(run, target)
    if run.state.gate is not None and operation != "update":
        _refuse(run, operation, target)
    if report := _make_report(
        run, operation, target, notes, f"{client or 'an MCP client'}, unverified"
    ):
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


def _make_report(
    run: Run, operation: Operation, target: PhaseId, notes: str, by: str
) -> Report | None:
    """Return the report that asks for it; None where nothing is to be updated."""
    if operation == "abandon":
        return answer(run, PersonAnswer(answer=Answer.ABANDON, notes=notes), VIA, by=by)
    key = f"{operation}-{uuid4().hex}"
    if operation == "retry" and notes and offers_change(run) and target == run.state.current_phase:
        return make_follow_up(run, Wanted(notes), key=key, at=run.now(), by=by, via=VIA)
    if operation == "retry":
        return RetryAsked(key=key, at=now(), phase=target, notes=notes, by=by, via=VIA)
    fetch_for_update(run)
    if not run.state.ended and run.state.gate is None:
        raise CannotUpdate("The run is not done yet, and its step is under way.")
    return update(run, key=key, at=now(), by=by, via=VIA)


def _refuse(run: Run, operation: Operation, target: PhaseId) -> None:
    """Leave it to the person to pass an open question by. Raises PersonDecides."""
    state = run.state
    gate = state.gate.name if state.gate is not None else state.current_phase
    does = "end the run" if operation == "abandon" else f"send the run back to {target}"
    phase = [target] if operation == "retry" else []
    root = str(run.repository.root)
    typed = shlex.join(["forge-bot", operation, "--run", run.name, "--repo", root, *phase])
    raise PersonDecides(
        f"The run {run.name} waits for an answer at {gate}. To {does} without it is the person's to"
        " decide.",
        hint=f"Show them the question. They can type at a terminal: {typed}",
    )
