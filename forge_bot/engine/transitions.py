"""Move a run between phases: enter, complete, go back, hand out tasks."""

from datetime import datetime
from itertools import count

from forge_bot.artifacts.task_checks import next_human, ready
from forge_bot.engine.call_records import outstanding_call
from forge_bot.engine.drafts import draft_review, may_correct, take_draft
from forge_bot.engine.gates import (
    is_approved_by_auto,
    open_decision,
    open_gate,
    record_auto_approval,
)
from forge_bot.engine.phases import (
    DRAFT,
    AgentPhase,
    AnyPhase,
    DecisionPhase,
    EndPhase,
    GatePhase,
    PublishPhase,
    ReviewPhase,
    TasksPhase,
    VerifyPhase,
)
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import CallStatus, State, Stuck, TaskState, TaskStatus, Wave
from forge_bot.values import Finding, PhaseId, RunStatus, Severity, TaskId, TaskMode, TaskSpec

PROCESS = "forge-bot"
"""The author of a note that our own process made."""


_NOT_BEGUN = frozenset({CallStatus.WAITING, CallStatus.CLEARED})


def is_left_out(pipeline: Pipeline, state: State, phase: AnyPhase) -> bool:
    if isinstance(phase, DecisionPhase):
        return True
    if isinstance(phase, PublishPhase):
        return (phase.skip_when == "no-pull-request" and state.flags.skip_pr) or (
            phase.skip_when == "no-source" and not state.source.url
        )
    if may_correct(pipeline, state, phase.id):
        return False
    return phase.id in pipeline.skipped(state.effort, auto=state.flags.auto)


def is_passed_over(pipeline: Pipeline, state: State, phase: AnyPhase) -> bool:
    """Return whether the run skips the phase, and no document of our own process stands in."""
    stands_in = isinstance(phase, AgentPhase) and phase.stand_in is not None
    return is_left_out(pipeline, state, phase) and not stands_in


def complete(pipeline: Pipeline, state: State, at: datetime) -> State:
    """Complete the current phase and return the run at the next phase that needs an action."""
    finished = (
        *(done for done in state.completed_phases if done != state.current_phase),
        state.current_phase,
    )
    fresh = state.replace(
        completed_phases=finished,
        attempts=0,
        notes=tuple(note for note in state.notes if note.phase != state.current_phase),
    )
    return enter(pipeline, fresh, pipeline.position(state.current_phase) + 1, at)


def end_unchanged(pipeline: Pipeline, state: State, at: datetime) -> State:
    """Return the run at its summary, or at its end; all that would change code is skipped."""
    here = pipeline.position(state.current_phase)
    writing = [
        place
        for place, phase in enumerate(pipeline.phases)
        if isinstance(phase, AgentPhase) and phase.writes == pipeline.summary and place > here
    ]
    ends = [place for place, phase in enumerate(pipeline.phases) if isinstance(phase, EndPhase)]
    target = (*writing, *ends)[0]
    done = (*state.completed_phases, state.current_phase)
    state = state.replace(completed_phases=done, attempts=0, notes=())
    for phase in pipeline.phases[here + 1 : target]:
        state = _skip(state, phase)
    return enter(pipeline, state, target, at)


def enter(pipeline: Pipeline, state: State, position: int, at: datetime) -> State:
    """Return the run at the first phase from `position` on that needs an action."""
    for phase in pipeline.phases[position:]:
        if is_passed_over(pipeline, state, phase):
            state = _skip(state, phase)
            continue
        here = state.replace(current_phase=phase.id, current_phase_status=RunStatus.IN_PROGRESS)
        if isinstance(phase, ReviewPhase):
            # A draft brings its review back.
            left_out = tuple(name for name in here.skipped_phases if name != phase.id)
            here = here.replace(skipped_phases=left_out)
        if isinstance(phase, EndPhase):
            return here.replace(
                current_phase_status=RunStatus.COMPLETED,
                completed_phases=(*here.completed_phases, phase.id),
            )
        if isinstance(phase, TasksPhase):
            return hand_out(pipeline, here, at)
        if isinstance(phase, GatePhase):
            if not is_approved_by_auto(here, phase):
                return _open(here, phase)
            passed = record_auto_approval(here, phase, at)
            state = passed.logged(at, phase.id, "passed by --auto")
            state = state.replace(completed_phases=(*state.completed_phases, phase.id))
            continue
        return here
    return state


def _skip(state: State, phase: AnyPhase) -> State:
    """Return the state with the phase among the skipped ones. Phases that the effort skips are
    among them from the start.
    """
    if isinstance(phase, DecisionPhase) or phase.id in state.skipped_phases:
        return state
    return state.replace(skipped_phases=(*state.skipped_phases, phase.id))


def _open(state: State, phase: GatePhase) -> State:
    shown = [state.artifacts[name] for name in phase.shows if name in state.artifacts]
    findings = tuple(finding for record in shown for finding in record.findings)
    return open_gate(
        state, phase.id, resume_at=phase.id, files=state.versions(phase.shows), findings=findings
    )


def go_back(
    pipeline: Pipeline, state: State, target: PhaseId, *, keep_rounds: bool = False
) -> State:
    """Return the run at an earlier phase.

    The phases after it are open again; their notes are dropped.

    Before the implementation, the work on the tasks is dropped too. Tasks that will be planned
    again are dropped with it.
    """
    position, again = pipeline.position(target), pipeline.phases[pipeline.position(target) :]
    later = {phase.id for phase in again}
    if not keep_rounds:
        counted = {phase.id for phase in again if not isinstance(phase, GatePhase | DecisionPhase)}
        rounds = {name: count for name, count in state.rounds.items() if name not in counted}
        state = state.replace(rounds=rounds)
    if any(isinstance(phase, VerifyPhase) for phase in again):
        state = state.replace(verification=None)
    if any(isinstance(phase, TasksPhase) and phase.id != target for phase in again):
        state = _without_task_work(pipeline, state, position)
    design = pipeline.approved_first
    if design is not None and position < pipeline.position(design.id):
        state = state.without_document(DRAFT)
    # What is skipped by a condition is checked again on entry.
    by_effort = pipeline.skipped(state.effort, auto=state.flags.auto)
    skipped = (one for one in state.skipped_phases if one in by_effort or one not in later)
    return state.replace(
        current_phase=target,
        current_phase_status=RunStatus.IN_PROGRESS,
        completed_phases=tuple(done for done in state.completed_phases if done not in later),
        skipped_phases=tuple(skipped),
        attempts=0,
        wave=None,
        gate=None,
        nothing_to_do=None,
        # What was not begun is not done any more; an agent may ask for it again.
        calls=tuple(call for call in state.calls if call.status not in _NOT_BEGUN),
        notes=tuple(note for note in state.notes if note.phase not in later - {target}),
    )


def _without_task_work(pipeline: Pipeline, state: State, position: int) -> State:
    """Drop the reports, reviews and rounds of the tasks; and the tasks, if they are planned from
    this phase on.

    Task 1 of the next plan may be another task and must not begin with them.
    """
    before = pipeline.phases[:position]
    planned = any(isinstance(phase, AgentPhase) and phase.tasks for phase in before)
    phases = {
        phase.id for phase in (pipeline.implementation, pipeline.task_review) if phase is not None
    }
    return state.replace(
        tasks=tuple(TaskState(spec=one.spec) for one in state.tasks if planned and not one.origin),
        artifacts={
            name: record for name, record in state.artifacts.items() if record.phase not in phases
        },
        visits={
            place: count
            for place, count in state.visits.items()
            if place.partition("/")[0] not in phases
        },
    )


# -- tasks


def hand_out(pipeline: Pipeline, state: State, at: datetime) -> State:
    """Hand out the next wave.

    Without one, open the gate of a waiting task or enter the phase after the tasks.
    """
    if state.wave is not None and state.wave.remaining:
        return state
    state = _pass_unreviewed(pipeline, take_draft(pipeline, state.replace(wave=None)))
    state = state.replace(
        current_phase=_phase_now(pipeline, state),
        current_phase_status=RunStatus.IN_PROGRESS,
        attempts=0,
    )
    for task in state.tasks:
        if task.stuck is not None:
            return _ask_about(pipeline, state, task.spec, task.stuck)
    if any(task.status is TaskStatus.CLEARED for task in state.tasks) or outstanding_call(state):
        return state
    if implemented := _ids(state, TaskStatus.IMPLEMENTED):
        return state.replace(
            wave=Wave(review=True, remaining=implemented[: pipeline.limits.parallel_tasks])
        )
    specs = [task.spec for task in state.tasks]
    passed = {task.spec.id for task in state.tasks if task.settled}
    waiting = set(_ids(state, TaskStatus.PENDING))
    if wave := ready(specs, passed, waiting, pipeline.limits.parallel_tasks):
        return state.replace(wave=Wave(review=False, remaining=wave))
    if (human := next_human(specs, passed, waiting)) is not None:
        return _ask_to_do(pipeline, state, human)
    return _tasks_done(pipeline, state, at)


def reviewed(pipeline: Pipeline, state: State) -> bool:
    """Return whether reviewers of tasks are asked: not where the draft was reviewed."""
    review = pipeline.task_review
    asked = review is not None and not is_left_out(pipeline, state, review)
    return asked and draft_review(pipeline, state) is None


def _pass_unreviewed(pipeline: Pipeline, state: State) -> State:
    if reviewed(pipeline, state):
        return state
    for task in state.tasks:
        if task.status is TaskStatus.IMPLEMENTED and task.stuck is None:
            state = state.with_task(task.replace(status=TaskStatus.PASSED))
    return state


def _phase_now(pipeline: Pipeline, state: State) -> PhaseId:
    review = pipeline.task_review
    unimplemented = any(
        task.status in {TaskStatus.PENDING, TaskStatus.CLEARED} for task in state.tasks
    )
    if unimplemented or review is None or not reviewed(pipeline, state):
        return pipeline.implementation.id
    return review.id


def _ids(state: State, status: TaskStatus) -> tuple[TaskId, ...]:
    return tuple(task.spec.id for task in state.tasks if task.status is status)


def _ask_about(pipeline: Pipeline, state: State, task: TaskSpec, stuck: Stuck) -> State:
    return open_decision(
        pipeline,
        state,
        stuck.reason,
        f"Task {task.id}, {task.title}: {stuck.subject}",
        files=stuck.files,
        task=task.id,
        report=stuck.report,
    )


def _ask_to_do(pipeline: Pipeline, state: State, task_id: TaskId) -> State:
    task = state.task(task_id)
    title = task.spec.title if task is not None else task_id
    phase = pipeline.implementation.id
    return open_gate(
        state,
        phase,
        resume_at=phase,
        options=("done", "skip", "abandon"),
        subject=title,
        task=task_id,
    )


def _tasks_done(pipeline: Pipeline, state: State, at: datetime) -> State:
    implementation, review = pipeline.implementation, pipeline.task_review
    last = implementation
    if review is not None and reviewed(pipeline, state):
        last = review
    elif review is not None:
        state = _skip(state, review)
    before = tuple(
        done for done in state.completed_phases if done not in {implementation.id, last.id}
    )
    both = (implementation.id,) if last is implementation else (implementation.id, last.id)
    state = state.replace(
        completed_phases=(*before, *both),
        attempts=0,
        notes=tuple(note for note in state.notes if note.phase not in both),
    )
    after = review if review is not None else implementation
    return enter(pipeline, state, pipeline.position(after.id) + 1, at)


def add_fix(
    pipeline: Pipeline,
    state: State,
    origin: str,
    title: str,
    findings: tuple[Finding, ...],
    at: datetime,
) -> State:
    """Add a task that fixes the findings of `origin`, and return the run at its tasks.

    The reviews that come after the tasks are open again.
    """
    heavy = [finding for finding in findings if finding.severity is not Severity.MINOR] or list(
        findings
    )
    spec = TaskSpec(
        id=next_fix(state),
        title=title,
        mode=TaskMode.SEQUENTIAL,
        acceptance=tuple(finding.description for finding in heavy)
        or (f"What {origin} found is worked off.",),
    )
    state = go_back(pipeline, state, pipeline.implementation.id, keep_rounds=True)
    return hand_out(
        pipeline, state.replace(tasks=(*state.tasks, TaskState(spec=spec, origin=origin))), at
    )


def next_fix(state: State) -> TaskId:
    """Return the name of the next task that fixes something."""
    names = {task.spec.id for task in state.tasks}
    return next(name for number in count(1) if (name := TaskId(f"fix-{number}")) not in names)


def send_back(
    pipeline: Pipeline, state: State, review: ReviewPhase, target: PhaseId, text: str
) -> State:
    """Return the run at the phase whose artifact its reviewer refused."""
    state = go_back(pipeline, state, target, keep_rounds=True)
    return state.with_note(target, review.agent, text)
