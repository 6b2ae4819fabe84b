"""Return the next action: (pipeline, state) → action."""

from collections.abc import Sequence

from forge_bot.artifacts.tasks import is_whole
from forge_bot.engine.actions import (
    Action,
    Checkpoint,
    Done,
    Exec,
    ExecOperation,
    HumanGate,
    SpawnAgent,
    WriteFile,
)
from forge_bot.engine.call_records import outstanding_call
from forge_bot.engine.phases import (
    DRAFT,
    AgentPhase,
    AnsweringPhase,
    DecisionPhase,
    EndPhase,
    GatePhase,
    PublishPhase,
    ReviewPhase,
    SetupPhase,
    StepPhase,
    TaskReviewPhase,
    TasksPhase,
    VerifyPhase,
)
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.process_documents import is_by_process, process_document
from forge_bot.engine.state import GateFacts, OpenGate, State, TaskState, TaskStatus, Wave
from forge_bot.values import PhaseId, RunStatus, TaskId, Tier


def action_id(state: State, phase: PhaseId | None = None) -> str:
    """Return the id of the outstanding action: the phase and the run's count of moves."""
    return f"{phase or state.current_phase}.{state.step}"


def next_action(pipeline: Pipeline, state: State) -> Action:
    """Return the action that the run asks for now.

    Without a report in between, it stays the same.
    """
    if state.ended:
        return _done(pipeline, state)
    if state.gate is not None:
        return _question(state, state.gate)
    phase = pipeline.phase(state.current_phase)
    if (call := outstanding_call(state)) is not None:
        return _operation(state, "call-tools", call.artifact, call.task)
    match phase:
        case SetupPhase():
            return _operation(state, "prepare")
        case AgentPhase() | ReviewPhase():
            return _document(pipeline, state, phase)
        case TasksPhase() | TaskReviewPhase():
            return _tasks(pipeline, state)
        case VerifyPhase() if state.verification is None:
            return _operation(state, "verify", phase.writes)
        case VerifyPhase():
            return _document(pipeline, state, phase)
        case StepPhase():
            return _operation(state, "step", phase.writes)
        case PublishPhase():
            return _operation(state, phase.operation)
        case GatePhase() | EndPhase() | DecisionPhase():
            # `enter` opens gates and ends runs; a run never stops here.
            raise AssertionError(phase.id)


def _document(
    pipeline: Pipeline, state: State, phase: AgentPhase | ReviewPhase | VerifyPhase
) -> SpawnAgent | WriteFile:
    """Return the action that brings about the phase's document: by our own process or an agent."""
    if is_by_process(pipeline, state, phase):
        return WriteFile(
            action_id=action_id(state),
            phase=phase.id,
            path=phase.writes,
            content=process_document(pipeline, state, phase),
        )
    agent, tier, headings = _asked(phase, state)
    return SpawnAgent(
        action_id=action_id(state),
        phase=phase.id,
        agent=agent,
        tier=tier,
        round=state.visits.get(phase.id, 0) + 1,
        input_files=inputs(pipeline, state, phase),
        output_file=phase.writes,
        headings=headings,
        closing=phase.closing if closes(state, phase) else (),
    )


def _done(pipeline: Pipeline, state: State) -> Done:
    abandoned = state.current_phase_status is RunStatus.ABANDONED
    done, skipped = len(state.completed_phases), len(state.skipped_phases)
    outcome = (
        f"abandoned at {state.current_phase}"
        if abandoned
        else f"completed: {done} phases, {skipped} skipped"
    )
    return Done(
        action_id=action_id(state),
        phase=state.current_phase,
        outcome="abandoned" if abandoned else "done",
        summary=f"Pipeline {outcome}",
        summary_path=next(
            (name for name in pipeline.documents("summary") if name in state.artifacts), None
        ),
    )


def _question(state: State, gate: OpenGate) -> Checkpoint | HumanGate:
    own = action_id(state, gate.name)
    if "done" in gate.options and gate.task is not None:
        return HumanGate(
            action_id=own,
            phase=gate.name,
            name=f"task-{gate.task}",
            task=gate.task,
            title=gate.subject,
        )
    return Checkpoint(
        action_id=own,
        phase=gate.resume_at,
        risks=state.risks,
        **{name: getattr(gate, name) for name in GateFacts.model_fields},
    )


def closes(state: State, phase: AnsweringPhase) -> bool:
    """Return whether the phase is asked for its closing sections: a review of drafts is, if there
    is one.
    """
    return DRAFT in state.artifacts or not (isinstance(phase, ReviewPhase) and phase.of_drafts)


def _asked(phase: AnsweringPhase, state: State) -> tuple[str, Tier, tuple[str, ...]]:
    """Return the phase's agent, the kind of its model and the headings that its artifact must
    contain, at this effort.
    """
    if not isinstance(phase, AgentPhase):
        return phase.agent, phase.tier, phase.headings
    extra = phase.debug_headings if state.flags.debug else ()
    if (variant := phase.variants.get(state.effort)) is None:
        return phase.agent, phase.tier, (*phase.headings, *extra)
    return variant.agent, variant.tier or phase.tier, (*variant.headings, *extra)


def _tasks(pipeline: Pipeline, state: State) -> SpawnAgent | Exec:
    implementation = pipeline.implementation
    if cleared := next((task for task in state.tasks if task.status is TaskStatus.CLEARED), None):
        task = cleared.spec.id
        patch = DRAFT if cleared.drafted else held_patch_name(task)
        return _operation(state, "apply-held", patch, task, implementation.id)
    wave = state.wave or Wave(review=False, remaining=())
    phase, tasks = phase_of_wave(pipeline, review=wave.review), wave.remaining
    first, *others = tasks
    return SpawnAgent(
        action_id=action_id(state, phase.id),
        phase=phase.id,
        agent=phase.agent,
        tier=phase.tier,
        round=max(state.visits.get(f"{phase.id}/{task}", 0) for task in tasks) + 1,
        input_files=inputs(pipeline, state, phase, None if others else state.task(first)),
        output_file=phase.writes if others else phase.writes.replace("{task}", first),
        headings=_headings_of(
            pipeline, phase, [task for task in state.tasks if task.spec.id in tasks]
        ),
        closing=phase.closing if len(state.tasks) == 1 else (),
        parallel_task_ids=tasks,
    )


def phase_of_wave(pipeline: Pipeline, *, review: bool) -> TasksPhase | TaskReviewPhase:
    """Return the phase whose documents the tasks of a wave are asked for."""
    reviewing = pipeline.task_review if review else None
    return reviewing or pipeline.implementation


def _headings_of(
    pipeline: Pipeline, phase: TasksPhase | TaskReviewPhase, tasks: Sequence[TaskState]
) -> tuple[str, ...]:
    """Return the headings of a document on a task. Where the task is all of the design, those
    that only a part of it needs are left out.
    """
    whole = all(is_whole(task.spec.acceptance, pipeline.planned_in) for task in tasks)
    left_out = phase.only_for_parts if whole else ()
    return tuple(heading for heading in phase.headings if heading not in left_out)


def held_patch_name(task: TaskId) -> str:
    """Return the name of the artifact that holds a change to protected paths for a person."""
    return f"held-{task}.patch"


def inputs(
    pipeline: Pipeline, state: State, phase: AnsweringPhase, task: TaskState | None = None
) -> tuple[str, ...]:
    """Return the existing artifacts that the phase reads.

    They include its own last version and the review that refused it.
    """
    names: list[str] = []
    for name in phase.reads:
        if "{each}" in name:
            names += [name.replace("{each}", other.spec.id) for other in state.tasks]
        elif "{task}" in name:
            names += [name.replace("{task}", task.spec.id)] if task is not None else []
        else:
            names.append(name)
    names.append(phase.writes.replace("{task}", task.spec.id) if task is not None else phase.writes)
    here = {(phase.id, task.spec.id if task is not None else None)}
    names += [call.result for call in state.calls if (call.phase, call.task) in here]
    names += [
        review.writes
        for review in pipeline.phases
        if isinstance(review, ReviewPhase) and review.sends_back_to == phase.id
    ]
    if task is not None:
        review = pipeline.task_review
        names += [review.writes.replace("{task}", task.spec.id)] if review is not None else []
        names += [task.origin] if task.origin else []
        names += _refused_patch(state, phase, task.spec.id)
    known = {"request.md", *state.artifacts}
    if DRAFT in known and any(
        place.startswith(f"{pipeline.implementation.id}/") for place in state.visits
    ):
        # What was applied stands in the files.
        known.discard(DRAFT)
    return tuple(dict.fromkeys(name for name in names if name in known))


def _refused_patch(state: State, phase: AnsweringPhase, task: TaskId) -> tuple[str, ...]:
    """Return the held patch of a task's last version, which nobody has applied; empty if there is
    none.
    """
    name = held_patch_name(task)
    held = state.artifacts.get(name)
    last = held is not None and held.round == state.visits.get(f"{phase.id}/{task}")
    return (name,) if held is not None and last and held.phase == phase.id else ()


def _operation(
    state: State,
    operation: ExecOperation,
    artifact: str | None = None,
    task: TaskId | None = None,
    phase: PhaseId | None = None,
) -> Exec:
    """Return an action of our own process; its commands let a person start it by hand."""
    return Exec(
        action_id=action_id(state, phase),
        phase=phase or state.current_phase,
        operation=operation,
        commands=("forge-bot", "resume", "--run", state.run),
        setup_only=operation == "prepare",
        task=task,
        artifact=artifact,
    )
