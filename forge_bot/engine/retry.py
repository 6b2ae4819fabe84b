"""Send a run back to a phase that it has reached: the parts that are kept or dropped, and the
reasons against it.
"""

from forge_bot.engine.external_events import remember
from forge_bot.engine.handle_report import reenter_phase
from forge_bot.engine.phases import (
    AnyPhase,
    DecisionPhase,
    EndPhase,
    SetupPhase,
    TaskReviewPhase,
    TasksPhase,
)
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import RetryAsked
from forge_bot.engine.state import State, TaskState, TaskStatus
from forge_bot.engine.transitions import go_back, is_passed_over, reviewed
from forge_bot.errors import NothingToRetry
from forge_bot.remedies import Remedy
from forge_bot.values import PhaseId, TaskMode

_DONE_BY_AGENTS = {TaskStatus.IMPLEMENTED, TaskStatus.PASSED}


def handle_retry(pipeline: Pipeline, state: State, report: RetryAsked) -> State:
    """Return the state after a person sent the run back.

    Raises NothingToRetry.
    """
    _check(pipeline, state, report.phase)
    phase = pipeline.phase(report.phase)
    match phase:
        case TasksPhase():
            tasks = tuple(map(_reset_to_plan, state.tasks))
            state = go_back(pipeline, state, phase.id).replace(tasks=tasks)
        case TaskReviewPhase():
            # Both task phases run together: the run returns to the tasks, and only their reviews
            # are open again.
            tasks = tuple(map(_drop_review, state.tasks))
            state = go_back(pipeline, state, pipeline.implementation.id).replace(tasks=tasks)
        case _:
            state = go_back(pipeline, state, phase.id)
    if report.notes:
        state = state.with_note(phase.id, report.by, report.notes)
    # A retry of another phase without words asks for nothing new.
    if report.notes or isinstance(phase, TasksPhase):
        state = remember(state, report, phase.id, "retry")
    return reenter_phase(pipeline, state, report.at)


def _reset_to_plan(task: TaskState) -> TaskState:
    """Return the task before any work on it.

    What a person did outside or left out keeps its status.
    """
    settled_outside = task.spec.mode is TaskMode.HUMAN_GATE and task.status is TaskStatus.PASSED
    return (
        task
        if settled_outside or task.status is TaskStatus.SKIPPED
        else TaskState(spec=task.spec, origin=task.origin)
    )


def _drop_review(task: TaskState) -> TaskState:
    """Return the task as implemented, without its review.

    A task that is not implemented stays as it is, including a question about it.
    """
    waits_elsewhere = task.stuck is not None and not task.stuck.review
    if (
        task.spec.mode is TaskMode.HUMAN_GATE
        or task.status not in _DONE_BY_AGENTS
        or waits_elsewhere
    ):
        return task
    return TaskState(spec=task.spec, origin=task.origin, status=TaskStatus.IMPLEMENTED)


# -- preconditions -----------------------------------------------------------------------------


def _check(pipeline: Pipeline, state: State, target: PhaseId) -> None:
    phase = next((phase for phase in pipeline.phases if phase.id == target), None)
    if phase is None:
        raise NothingToRetry(f"The pipeline {pipeline.id} has no phase {target}.")
    name = _name_phase(phase)
    if isinstance(phase, SetupPhase | EndPhase | DecisionPhase):
        raise NothingToRetry(
            f"{name} cannot be done again.",
            hint="Name a phase between setup and end.",
            remedy=Remedy("show-status"),
        )
    if is_passed_over(pipeline, state, phase):
        raise NothingToRetry(f"{name} is left out of this run, which has effort {state.effort}.")
    if not _has_reached(pipeline, state, phase):
        here = _name_phase(pipeline.phase(state.current_phase))
        raise NothingToRetry(f"{name} has not been reached; the run stands at {here}.")


def _name_phase(phase: AnyPhase) -> str:
    return f"{phase.label} ({phase.id})"


def _has_reached(pipeline: Pipeline, state: State, phase: AnyPhase) -> bool:
    if pipeline.position(phase.id) <= pipeline.position(state.current_phase):
        return True
    # The first tasks may have been reviewed while others are still to be implemented.
    by_agents = [
        task
        for task in state.tasks
        if task.spec.mode is not TaskMode.HUMAN_GATE and task.status in _DONE_BY_AGENTS
    ]
    return isinstance(phase, TaskReviewPhase) and reviewed(pipeline, state) and bool(by_agents)
