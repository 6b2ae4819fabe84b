"""Apply reports on calls of tools: requested, ended."""

from datetime import datetime

from forge_bot.engine import call_records
from forge_bot.engine.gates import open_decision
from forge_bot.engine.phases import TaskReviewPhase, TasksPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import CallEnded, CallOutcome, CallsRequested
from forge_bot.engine.state import Reason, State, Stuck
from forge_bot.engine.task_reports import remove_from_wave
from forge_bot.engine.transitions import hand_out
from forge_bot.errors import WrongReport


def handle_calls_requested(pipeline: Pipeline, state: State, report: CallsRequested) -> State:
    """Return the state with the calls recorded, and the question if a person has to agree.

    The agent is asked anew when they are made, or declined.
    """
    task = state.task(report.task)
    state = call_records.requested(state, report)
    shown = state.versions((report.artifact,))
    subject = call_records.subject(report.calls)
    if task is None:
        if not report.asks:
            return state
        return open_decision(pipeline, state, Reason.TOOL_APPROVAL, subject, files=shown)
    wave = state.wave
    if wave is None or task.spec.id not in wave.remaining:
        raise WrongReport(f"Task {task.spec.id} is not being worked on.")
    state = remove_from_wave(state, task.spec.id)
    if report.asks:
        stuck = Stuck(reason=Reason.TOOL_APPROVAL, subject=subject, review=wave.review, files=shown)
        state = state.with_task(task.replace(stuck=stuck))
    return hand_out(pipeline, state, report.at)


def handle_call_ended(pipeline: Pipeline, state: State, report: CallEnded) -> State:
    """Return the state after a call. After the last one, the agent that asked continues."""
    state = call_records.ended(state, report)
    if report.outcome is CallOutcome.UNKNOWN:
        call = call_records.of(state, report)
        return open_decision(
            pipeline,
            state,
            Reason.OUTCOME_UNKNOWN,
            f"{call.capability} was begun, and no answer came back.",
            files=state.versions((report.artifact, report.result)),
            task=call.task,
        )
    return after_calls(pipeline, state, report.at)


def after_calls(pipeline: Pipeline, state: State, at: datetime) -> State:
    """Return the state in which the agents continue, if no call is left to be made."""
    waiting_tasks = isinstance(pipeline.phase(state.current_phase), TasksPhase | TaskReviewPhase)
    if call_records.outstanding_call(state) is not None or not waiting_tasks:
        return state
    return hand_out(pipeline, state, at)
