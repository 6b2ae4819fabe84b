"""Apply events from outside the phases of a run.

They are a changed request, another effort, an approval in doubt, more work on the change that is
offered, people's commits, and a return to a phase that was reached: the parts that are kept or
dropped, and the reasons against it.
"""

from typing import Literal

from forge_bot.engine.gates import open_decision
from forge_bot.engine.handle_report import reenter_phase
from forge_bot.engine.person_requirements import person_requirements
from forge_bot.engine.phases import (
    AnyPhase,
    DecisionPhase,
    EndPhase,
    GatePhase,
    SetupPhase,
    TaskReviewPhase,
    TasksPhase,
    VerifyPhase,
)
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import (
    ApprovalDoubted,
    EffortChanged,
    FollowUpAsked,
    PeopleCommitted,
    RequestRefreshed,
    RetryAsked,
)
from forge_bot.engine.state import ArtifactRecord, Decision, Reason, State, TaskState, TaskStatus
from forge_bot.engine.transitions import add_fix, go_back, is_passed_over, next_fix, reviewed
from forge_bot.errors import NothingToRetry, ReportRejected
from forge_bot.remedies import Remedy
from forge_bot.text_format import short_line
from forge_bot.values import Finding, PhaseId, Severity, TaskId, TaskMode

FOLLOW_UP = "follow-up"
"""The key under which a run counts what was wanted of the change that it offers. The names of its
documents begin with it.
"""

CHECKS = "checks"
"""The key under which a run counts its rounds over failed checks since a person said more."""

CHECK_ROUNDS = 2

_LONGEST_TITLE = 100
_DONE_BY_AGENTS = {TaskStatus.IMPLEMENTED, TaskStatus.PASSED}


def apply_refresh(pipeline: Pipeline, state: State, report: RequestRefreshed) -> State:
    """Return the run with a new request, at its first phase.

    Every artifact made from the old request is written again; the agents see the old version.
    """
    if report.request_hash == state.request_hash:
        raise ReportRejected("The request has not changed.", hint="Edit the issue first.")
    record = ArtifactRecord(blob=report.request_blob, phase=pipeline.phases[0].id, round=1)
    state = state.replace(title=report.title, request_hash=report.request_hash)
    fresh = state.with_document("request.md", record)
    return reenter_phase(pipeline, go_back(pipeline, fresh, _first(pipeline, fresh).id), report.at)


def apply_effort_change(pipeline: Pipeline, state: State, report: EffortChanged) -> State:
    """Change the effort of a run and return it at the first phase it still has to do.

    Only possible before the tasks begin.
    """
    if report.effort is state.effort:
        raise ReportRejected(f"The run has effort {state.effort} already, so nothing was changed.")
    if pipeline.steps is not None:
        raise ReportRejected("A pipeline of steps is the same at every effort.")
    if pipeline.position(state.current_phase) >= pipeline.position(pipeline.implementation.id):
        back, plan = "Abandon the run first.", pipeline.approved_first
        if plan is not None:
            back = f"Go back with retry {plan.id} first, or abandon the run."
        raise ReportRejected(f"The tasks have begun, so effort {state.effort} stays.", hint=back)
    state = state.replace(
        effort=report.effort,
        effort_reason=f"{report.by} chose it",
        flow_template=pipeline.flows[report.effort],
        skipped_phases=pipeline.skipped(report.effort, auto=state.flags.auto),
    )
    return reenter_phase(
        pipeline,
        go_back(pipeline, state, _first(pipeline, state, undone=True).id, keep_rounds=True),
        report.at,
    )


def apply_doubt(pipeline: Pipeline, state: State, report: ApprovalDoubted) -> State:
    """Ask the question of a gate again at the current phase. An approval continues there."""
    phase = pipeline.phase(report.gate)
    if not isinstance(phase, GatePhase) or state.gate is not None:
        raise ReportRejected(f"{report.gate} cannot be asked again now.")
    files, subject = state.versions(phase.shows), f"{phase.label}: {report.why}"
    return open_decision(pipeline, state, Reason.UNVERIFIED_APPROVAL, subject, files=files)


def apply_follow_up(pipeline: Pipeline, state: State, report: FollowUpAsked) -> State:
    """Add a task for what is wanted of the change that the run offers.

    After two rounds over failed checks without a person's word ask a person.
    """
    if state.gate is not None:
        raise ReportRejected(
            f"{state.gate.name} waits for an answer; more can be asked for after it."
        )
    if not has_change(pipeline, state):
        raise ReportRejected("The run offers no change yet that more could be asked of.")
    count = state.rounds.get(FOLLOW_UP, 0) + 1
    red = 0 if report.notes or report.items else state.rounds.get(CHECKS, 0) + 1
    record = ArtifactRecord(blob=report.blob, phase=state.current_phase, round=count)
    state = state.with_document(report.artifact, record)
    state = state.with_round(FOLLOW_UP, count).with_round(CHECKS, red)
    if red > CHECK_ROUNDS:
        subject = f"still red after {CHECK_ROUNDS} rounds: {', '.join(report.checks)}"
        shown = state.versions((report.artifact,))
        return open_decision(pipeline, state, Reason.CHECKS_RED, subject, files=shown)
    if report.by:
        place = pipeline.implementation.id
        state = remember(state, report, place, "change", task=next_fix(state))
    criteria = _criteria(state, report)
    findings = tuple(Finding(severity=Severity.CRITICAL, description=text) for text in criteria)
    return add_fix(pipeline, state, report.artifact, _title(report), findings, report.at)


def has_change(pipeline: Pipeline, state: State) -> bool:
    """Return whether tasks of the run have been worked on, so that more can be asked for."""
    return (
        pipeline.steps is None
        and bool(state.tasks)
        and pipeline.position(state.current_phase) >= pipeline.position(pipeline.implementation.id)
    )


def remember(
    state: State,
    report: FollowUpAsked | RetryAsked,
    gate: PhaseId,
    answer: Literal["change", "retry"],
    *,
    task: TaskId | None = None,
) -> State:
    """Return the state that remembers who asked for work beside the questions, with which words.
    Those for a change are a condition of it.
    """
    changes = answer == "change"
    request = Decision(
        at=report.at,
        gate=gate,
        answer=answer,
        digest="",
        by=report.by,
        via=report.via,
        notes="" if changes else report.notes,
        condition=report.notes if changes else "",
        task=task,
    )
    return state.replace(sent_back=(*state.sent_back, request))


def _title(report: FollowUpAsked) -> str:
    if report.notes:
        return short_line(report.notes.strip().splitlines()[0], _LONGEST_TITLE)
    if report.items:
        paths = ", ".join(dict.fromkeys(item.path for item in report.items if item.path))
        return short_line(f"Change {paths or 'it'} as the review asks", _LONGEST_TITLE)
    return f"Work on the failed checks: {', '.join(report.checks)}"


def _criteria(state: State, report: FollowUpAsked) -> list[str]:
    """Return what has to be done, with the person's words under their number. Words of a review
    stand in the document alone: strangers may have written them.
    """
    known = reversed(person_requirements(state))
    number = next((asked.number for asked in known if asked.text == report.notes), "")
    words = [f"{number}: {' '.join(report.notes.split())}"] if report.notes else []
    checks = [f"Mend what the check {name} reports." for name in report.checks]
    items = [
        f"F-{count}: {item.place or 'the whole change'}, as {item.by} asks in the review"
        for count, item in enumerate(report.items, 1)
    ]
    return [*words, *checks, *items]


def apply_peoples_commits(pipeline: Pipeline, state: State, report: PeopleCommitted) -> State:
    """Send a run that was verified back to its verification: it judges people's commits too."""
    if not is_verified(pipeline, state) or state.gate is not None:
        return state
    return reenter_phase(
        pipeline, go_back(pipeline, state, verification(pipeline, state)), report.at
    )


def verification(pipeline: Pipeline, state: State) -> PhaseId:
    """Return the phase that judges the whole change; the present one where the effort leaves it
    out.
    """
    judging = [
        phase.id
        for phase in pipeline.phases
        if isinstance(phase, VerifyPhase) and phase.id not in state.skipped_phases
    ]
    return judging[-1] if judging else state.current_phase


def is_verified(pipeline: Pipeline, state: State) -> bool:
    """Return whether the whole change was judged."""
    return verification(pipeline, state) in state.completed_phases


def _first(pipeline: Pipeline, state: State, *, undone: bool = False) -> AnyPhase:
    """Return the first phase of this run after its setup.

    With `undone`, return the first that is incomplete.
    """
    return next(
        phase
        for phase in pipeline.phases
        if not isinstance(phase, SetupPhase | DecisionPhase)
        and not (undone and phase.id in state.completed_phases)
        and not is_passed_over(pipeline, state, phase)
    )


# -- a return to a phase


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
    if settled_outside or task.status is TaskStatus.SKIPPED:
        return task
    return TaskState(spec=task.spec, origin=task.origin)


def _is_by_agents(task: TaskState) -> bool:
    """Return whether agents did the task."""
    return task.spec.mode is not TaskMode.HUMAN_GATE and task.status in _DONE_BY_AGENTS


def _drop_review(task: TaskState) -> TaskState:
    """Return the task as implemented, without its review.

    A task that is not implemented stays as it is, including a question about it.
    """
    waits_elsewhere = task.stuck is not None and not task.stuck.review
    if waits_elsewhere or not _is_by_agents(task):
        return task
    return TaskState(spec=task.spec, origin=task.origin, status=TaskStatus.IMPLEMENTED)


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
    reviews = isinstance(phase, TaskReviewPhase) and reviewed(pipeline, state)
    return reviews and any(map(_is_by_agents, state.tasks))
