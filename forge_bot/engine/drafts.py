"""A draft: the change that the author of a design answered with, approved and reviewed together
with the design, and the change of the only task then.
"""

from forge_bot.engine.gates import approvals_of, is_approved
from forge_bot.engine.phases import DRAFT, GatePhase, ReviewPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import ArtifactRecord, State, TaskStatus
from forge_bot.values import Finding, PhaseId


def may_draft(pipeline: Pipeline, state: State, phase_id: PhaseId) -> bool:
    """Return whether a phase's answer may hold the change that waits with the design: its author
    drafts it, and its reviewer may correct a draft.
    """
    return pipeline.drafts(phase_id, state.effort) or may_correct(pipeline, state, phase_id)


def may_correct(pipeline: Pipeline, state: State, phase_id: PhaseId) -> bool:
    """Return whether a phase reviews a draft, which its answer may correct."""
    phase = pipeline.phase(phase_id)
    return isinstance(phase, ReviewPhase) and phase.of_drafts and DRAFT in state.artifacts


def take_draft(pipeline: Pipeline, state: State) -> State:
    """Return the state in which the only task has the approved draft as its change.

    It has not if nobody was shown just this draft and approved it, if a person approved with a
    condition or another option than the draft follows, or if the task was begun already.
    """
    place = f"{pipeline.implementation.id}/{state.tasks[0].spec.id}" if state.tasks else ""
    untouched = len(state.tasks) == 1 and place not in state.visits and not state.tasks[0].attempts
    asked = any(
        one.condition or any(not choice.endswith("a") for choice in one.choices)
        for decision in state.decisions
        for one in approvals_of(state, decision)
    )
    shown = any(
        isinstance(phase, GatePhase) and DRAFT in phase.shows and is_approved(state, phase)
        for phase in pipeline.phases
    )
    plan = pipeline.approved_first
    offered = plan is not None and pipeline.drafts(plan.id, state.effort)
    if (
        DRAFT not in state.artifacts
        or not (shown and offered and untouched)
        or asked
        or state.notes
    ):
        return state
    return state.with_task(state.tasks[0].replace(status=TaskStatus.CLEARED, drafted=True))


def draft_review(pipeline: Pipeline, state: State) -> ArtifactRecord | None:
    """Return the review of the draft that is the only task's change, if its reviewer passed it and
    nothing was done on the task since.
    """
    review = pipeline.draft_review
    if review is None or len(state.tasks) != 1 or not state.tasks[0].drafted:
        return None
    record, (task,) = state.artifacts.get(review.writes), state.tasks
    once = state.visits.get(f"{pipeline.implementation.id}/{task.spec.id}", 0) <= 1
    passed = record is not None and record.verdict is not None and record.verdict.positive
    return record if passed and once and not state.notes else None


def open_findings(state: State, record: ArtifactRecord) -> tuple[Finding, ...]:
    """Return the findings of a review without those that it corrected in the draft itself."""
    draft = state.artifacts.get(DRAFT)
    corrects = draft is not None and draft.phase == record.phase
    return tuple(one for one in record.findings if not (corrects and one.is_corrected))
