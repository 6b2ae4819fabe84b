"""Apply reports on the tasks of a run, and on the calls that its agents ask for."""

from datetime import datetime

from forge_bot.engine import call_records
from forge_bot.engine.artifact_records import (
    complaint_about,
    join_findings,
    verdict_of,
    with_artifact,
)
from forge_bot.engine.gates import open_decision
from forge_bot.engine.phases import TaskReviewPhase, TasksPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import (
    AgentFailed,
    ArtifactWritten,
    CallEnded,
    CallOutcome,
    CallsRequested,
    FailureReason,
)
from forge_bot.engine.state import (
    Reason,
    ShownVersion,
    State,
    Stuck,
    TaskState,
    TaskStatus,
    Wave,
)
from forge_bot.engine.transitions import PROCESS, hand_out
from forge_bot.errors import WrongReport
from forge_bot.values import PhaseId, TaskId, Verdict


def handle_task_artifact(pipeline: Pipeline, state: State, report: ArtifactWritten) -> State:
    task = _task(state, report.task)
    if task.status is TaskStatus.CLEARED and state.wave is None:
        state = with_artifact(state, report, pipeline.implementation.id)
        return hand_out(pipeline, state.with_task(_implemented(task, report)), report.at)
    _, phase = _worked_on(pipeline, state, task)
    if report.artifact != phase.writes.replace("{task}", task.spec.id):
        raise WrongReport(f"Task {task.spec.id} is not answered by {report.artifact}.")
    state = remove_from_wave(with_artifact(state, report, phase.id), task.spec.id)
    unreadable = (
        isinstance(phase, TaskReviewPhase) and verdict_of(phase, report) is Verdict.UNREADABLE
    )
    if report.inspection.problems or unreadable:
        state = _task_invalid(pipeline, state, task, report, phase, unreadable=unreadable)
    elif isinstance(phase, TasksPhase):
        state = _task_implemented(state, task, report)
    else:
        state = _task_reviewed(state, task, report, phase, pipeline.implementation.id)
    return hand_out(pipeline, state, report.at)


def _task(state: State, task_id: TaskId | None) -> TaskState:
    task = state.task(task_id)
    if task is None:
        raise WrongReport(f"The run has no task {task_id}.")
    return task


def _worked_on(
    pipeline: Pipeline, state: State, task: TaskState
) -> tuple[Wave, TasksPhase | TaskReviewPhase]:
    """Return the wave that a task is in, and the phase that it is in there."""
    wave, review = state.wave, pipeline.task_review
    if wave is None or task.spec.id not in wave.remaining:
        raise WrongReport(f"Task {task.spec.id} is not being worked on.")
    return wave, review if wave.review and review is not None else pipeline.implementation


def remove_from_wave(state: State, task_id: TaskId) -> State:
    wave = state.wave
    if wave is None:
        return state
    remaining = tuple(name for name in wave.remaining if name != task_id)
    return state.replace(wave=wave.replace(remaining=remaining))


def _implemented(task: TaskState, report: ArtifactWritten) -> TaskState:
    done = {"status": TaskStatus.IMPLEMENTED, "attempts": 0, "stuck": None}
    return task.replace(**done, without_change=report.without_change)


def _task_implemented(state: State, task: TaskState, report: ArtifactWritten) -> State:
    state = state.replace(notes=tuple(note for note in state.notes if note.task != task.spec.id))
    return state.with_task(task_after_work(task, report))


def task_after_work(task: TaskState, report: ArtifactWritten) -> TaskState:
    """Return the task as implemented.

    A task that touches protected paths is stuck until a person answers.
    """
    if report.held is None:
        return _implemented(task, report)
    stuck = Stuck(
        reason=Reason.PROTECTED_PATHS,
        subject="it changes protected paths: " + ", ".join(report.held_paths),
        files=(ShownVersion(name=report.held, blob=report.held_blob),),
        report=report,
    )
    return task.replace(stuck=stuck, attempts=0)


def _task_reviewed(
    state: State,
    task: TaskState,
    report: ArtifactWritten,
    phase: TaskReviewPhase,
    implementation: PhaseId,
) -> State:
    verdict = verdict_of(phase, report)
    if verdict.positive:
        passed = task.replace(status=TaskStatus.PASSED, verdict=verdict, attempts=0, stuck=None)
        return state.with_task(passed)
    rounds = task.rounds + 1
    text = (
        f"{report.artifact} says {verdict.value}. Work off:"
        f" {join_findings(report.inspection.findings)}"
    )
    failed = task.replace(verdict=verdict, rounds=rounds, attempts=0)
    if rounds <= phase.rounds:
        state = state.with_note(implementation, phase.agent, text, task.spec.id)
        return state.with_task(failed.replace(status=TaskStatus.PENDING))
    stuck = Stuck(reason=Reason.ROUNDS_EXHAUSTED, subject=text, review=True, report=report)
    return state.with_task(failed.replace(stuck=stuck))


def _task_invalid(
    pipeline: Pipeline,
    state: State,
    task: TaskState,
    report: ArtifactWritten,
    phase: TasksPhase | TaskReviewPhase,
    *,
    unreadable: bool,
) -> State:
    complaint = complaint_about(report, unreadable=unreadable)
    tried = task.replace(attempts=task.attempts + 1)
    if tried.attempts < pipeline.limits.artifact_attempts:
        return state.with_task(tried).with_note(phase.id, PROCESS, complaint, task.spec.id)
    reason = Reason.INVALID_ARTIFACT if report.inspection.problems else Reason.UNREADABLE_VERDICT
    stuck = Stuck(
        reason=reason, subject=complaint, review=isinstance(phase, TaskReviewPhase), report=report
    )
    return state.with_task(tried.replace(stuck=stuck))


def handle_task_failure(pipeline: Pipeline, state: State, report: AgentFailed) -> State:
    task = _task(state, report.task)
    wave, phase = _worked_on(pipeline, state, task)
    state = remove_from_wave(state.with_visit(f"{phase.id}/{task.spec.id}"), task.spec.id)
    tried = task.replace(attempts=task.attempts + 1)
    if report.reason is FailureReason.BUDGET:
        stuck = Stuck(reason=Reason.BUDGET, subject=report.message, review=wave.review)
        state = state.with_task(task.replace(stuck=stuck))
    elif report.reason is FailureReason.CONFLICT:
        # The agent is not at fault, so the attempt does not count. This cannot repeat forever: the
        # conflicting task has been merged.
        state = state.with_note(phase.id, PROCESS, report.message, task.spec.id)
    elif tried.attempts < pipeline.limits.failure_attempts:
        state = state.with_task(tried).with_note(phase.id, PROCESS, report.message, task.spec.id)
    else:
        stuck = Stuck(reason=Reason.AGENT_FAILED, subject=report.message, review=wave.review)
        state = state.with_task(tried.replace(stuck=stuck))
    return hand_out(pipeline, state, report.at)


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
