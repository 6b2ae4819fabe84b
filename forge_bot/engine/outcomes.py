"""Turn an agent's answer, failure and calls into the next state, for a phase as for one task of a
wave; and record documents with what their inspections say.
"""

from datetime import datetime
from typing import Any, NamedTuple

from forge_bot.engine import call_records
from forge_bot.engine.drafts import may_correct
from forge_bot.engine.gates import open_decision
from forge_bot.engine.next_action import phase_of_wave
from forge_bot.engine.phases import (
    DRAFT,
    AgentPhase,
    AnsweringPhase,
    AnyPhase,
    ReviewPhase,
    StepPhase,
    TaskReviewPhase,
    TasksPhase,
    VerifyPhase,
)
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.process_documents import is_by_process
from forge_bot.engine.reports import (
    AgentFailed,
    ArtifactWritten,
    CallEnded,
    CallOutcome,
    CallsRequested,
    CorrectedDesign,
    FailureReason,
)
from forge_bot.engine.state import (
    ArtifactRecord,
    Reason,
    ShownVersion,
    State,
    Stuck,
    TaskState,
    TaskStatus,
)
from forge_bot.engine.transitions import (
    PROCESS,
    add_fix,
    complete,
    hand_out,
    is_left_out,
    send_back,
)
from forge_bot.errors import WrongReport
from forge_bot.values import DocumentFacts, Inspection, PhaseId, TaskId, Verdict

_UNCLEAR = "no single readable verdict that agrees with the findings"
_FACTS = ("title", "one_task", "planned", "sections")


class Work(NamedTuple):
    """The work that an agent was asked for: the document of a phase, or of one task of a wave."""

    phase: AnyPhase
    task: TaskState | None = None

    @property
    def task_id(self) -> TaskId | None:
        return self.task.spec.id if self.task is not None else None


def _work(pipeline: Pipeline, state: State, task_id: TaskId | None) -> Work:
    if state.wave is None:
        return Work(pipeline.phase(state.current_phase))
    task = state.task(task_id)
    if task is None or task.spec.id not in state.wave.remaining:
        raise WrongReport(f"Task {task_id} is not being worked on.")
    return Work(phase_of_wave(pipeline, review=state.wave.review), task)


# -- documents


def handle_document(pipeline: Pipeline, state: State, report: ArtifactWritten) -> State:
    """Return the state after a document was written. One that cannot be used is asked for again."""
    task = state.task(report.task)
    if task is not None and task.status is TaskStatus.CLEARED and state.wave is None:
        state = with_artifact(state, report, pipeline.implementation.id)
        return hand_out(pipeline, state.with_task(_implement(task)), report.at)
    work = _work(pipeline, state, report.task)
    phase = work.phase
    if (
        not isinstance(phase, AnsweringPhase | StepPhase)
        or phase.writes.replace("{task}", work.task_id or "{task}") != report.artifact
    ):
        raise WrongReport(f"{phase.id} is not answered by {report.artifact}.")
    if isinstance(phase, VerifyPhase) and state.verification is None:
        raise WrongReport(f"{phase.id} needs the project's commands to run first.")
    plan = pipeline.approved_first
    if plan is not None and phase is plan and not is_by_process(pipeline, state, plan):
        # The new version of the design has a draft of its own, or none.
        state = state.without_document(DRAFT)
    if (corrected := report.corrected) is not None:
        if plan is None or not may_correct(pipeline, state, phase.id):
            raise WrongReport(f"{phase.id} corrects no design.")
        state = _with_correction(state, plan.writes, corrected)
    state = _out_of_wave(with_artifact(state, report, phase.id), work)
    review = pipeline.draft_review
    if phase is plan and review is not None and is_left_out(pipeline, state, review):
        # It judged the design of before.
        state = state.without_document(review.writes)
    unreadable = (
        isinstance(phase, ReviewPhase | TaskReviewPhase)
        and verdict_of(phase, report) is Verdict.UNREADABLE
    )
    problems = [str(problem) for problem in report.inspection.problems]
    if not problems and not unreadable:
        return accept(pipeline, state, work, report)
    reason = Reason.INVALID_ARTIFACT if problems else Reason.UNREADABLE_VERDICT
    if unreadable:
        problems += report.inspection.contradictions or (_UNCLEAR,)
    text = f"{report.artifact} cannot be used: {'; '.join(problems)}"
    most = pipeline.limits.artifact_attempts
    return _again(pipeline, state, work, most, reason, text, report.at, report)


def accept(
    pipeline: Pipeline, state: State, work: Work, report: ArtifactWritten, *, anyway: bool = False
) -> State:
    """Return the state after a document was accepted. With `anyway`, a person accepts it in spite
    of missing parts.
    """
    phase, task = work
    match phase:
        case TasksPhase() if task is not None:
            notes = tuple(note for note in state.notes if note.task != task.spec.id)
            state = state.replace(notes=notes).with_task(task_after_work(task, report))
            return hand_out(pipeline, state, report.at)
        case ReviewPhase() | TaskReviewPhase():
            verdict = verdict_of(phase, report)
            if not verdict.positive and not (anyway and verdict is Verdict.UNREADABLE):
                return _refuse(pipeline, state, work, phase, report)
            if task is not None:
                done = {"status": TaskStatus.PASSED, "verdict": verdict, "attempts": 0}
                return hand_out(pipeline, state.with_task(task.replace(**done)), report.at)
        case AgentPhase():
            if phase.tasks:
                specs = report.inspection.tasks
                state = state.replace(tasks=tuple(TaskState(spec=spec) for spec in specs))
            unneeded = report.inspection.nothing_to_do
            if phase.may_end_run and unneeded is not None:
                subject = f"{phase.label}: {unneeded.why.value}."
                return open_decision(pipeline, state, Reason.NOTHING_TO_DO, subject, report=report)
        case _:
            pass
    return complete(pipeline, state, report.at)


def _refuse(
    pipeline: Pipeline,
    state: State,
    work: Work,
    phase: ReviewPhase | TaskReviewPhase,
    report: ArtifactWritten,
) -> State:
    task, verdict, findings = work.task, verdict_of(phase, report), report.inspection.findings
    joined = "; ".join(f"[{finding.severity.value}] {finding.description}" for finding in findings)
    text = f"{report.artifact} says {verdict.value}. Work off: {joined or 'see its text'}"
    rounds = 1 + (task.rounds if task is not None else state.rounds.get(phase.id, 0))
    exhausted = rounds > phase.rounds
    if task is not None:
        failed = task.replace(verdict=verdict, rounds=rounds, attempts=0)
        if not exhausted:
            note = (pipeline.implementation.id, phase.agent, text, task.spec.id)
            state = state.with_note(*note).with_task(failed.replace(status=TaskStatus.PENDING))
            return hand_out(pipeline, state, report.at)
        work = Work(phase, failed)
    elif isinstance(phase, ReviewPhase):
        state = state.with_round(phase.id, rounds)
        if phase.sends_back_to is not None and exhausted:
            # The gate that follows shows the open findings; a person decides there.
            return complete(pipeline, state, report.at)
        if phase.sends_back_to is not None:
            return send_back(pipeline, state, phase, phase.sends_back_to, text)
        if not exhausted:
            title = f"Work off the {phase.label.lower()}"
            return add_fix(pipeline, state, report.artifact, title, findings, report.at)
    return _ask(pipeline, state, work, Reason.ROUNDS_EXHAUSTED, text, report.at, report=report)


def _implement(task: TaskState) -> TaskState:
    return task.replace(status=TaskStatus.IMPLEMENTED, attempts=0, stuck=None)


def task_after_work(task: TaskState, report: ArtifactWritten) -> TaskState:
    """Return the task as implemented.

    A task that touches protected paths is stuck until a person answers.
    """
    if report.held is None:
        return _implement(task)
    stuck = Stuck(
        reason=Reason.PROTECTED_PATHS,
        subject="it changes protected paths: " + ", ".join(report.held_paths),
        files=(ShownVersion(name=report.held, blob=report.held_blob),),
        report=report,
    )
    return task.replace(stuck=stuck, attempts=0)


def verdict_of(phase: ReviewPhase | TaskReviewPhase, report: ArtifactWritten) -> Verdict:
    verdict = report.inspection.verdict
    return verdict if verdict is not None and verdict in phase.verdicts else Verdict.UNREADABLE


def facts_of(inspection: Inspection) -> dict[str, Any]:
    """Return what the record of a document says of its text, whoever wrote or changed it."""
    return {name: getattr(inspection, name) for name in _FACTS}


def with_artifact(state: State, report: ArtifactWritten, phase: PhaseId) -> State:
    place = phase if report.task is None else PhaseId(f"{phase}/{report.task}")
    state = state.with_visit(place)
    visits = state.visits[place]
    record = ArtifactRecord(
        blob=report.blob,
        phase=phase,
        round=visits,
        risks=report.risks,
        **{name: getattr(report.inspection, name) for name in DocumentFacts.model_fields},
    )
    risks = _risks(state, report.artifact, report.risks)
    state = state.replace(risks=risks).with_document(report.artifact, record)
    if report.held is None:
        return state
    held = ArtifactRecord(blob=report.held_blob, phase=phase, round=visits)
    return state.with_document(report.held, held)


def _with_correction(state: State, name: str, corrected: CorrectedDesign) -> State:
    """Return the state with the text of a document as a review edited it; it stays its author's."""
    facts = facts_of(corrected.inspection)
    record = state.artifacts[name].replace(blob=corrected.blob, risks=corrected.risks, **facts)
    return state.replace(risks=_risks(state, name, corrected.risks)).with_document(name, record)


def _risks(state: State, artifact: str, new: tuple[str, ...]) -> tuple[str, ...]:
    """Return the risk flags of the run with those of this version of an artifact.

    Flags that only the last version of the artifact had are removed.
    """
    last = state.artifacts.get(artifact)
    others = {
        risk
        for name, record in state.artifacts.items()
        if name != artifact
        for risk in record.risks
    }
    over = set(last.risks) - others if last is not None else set[str]()
    return tuple(dict.fromkeys((*(risk for risk in state.risks if risk not in over), *new)))


# -- failures


def handle_failure(pipeline: Pipeline, state: State, report: AgentFailed) -> State:
    """Return the state after an agent ended without an answer."""
    work = _work(pipeline, state, report.task)
    phase, task = work
    if not isinstance(phase, AnsweringPhase):
        raise WrongReport(f"{state.current_phase} has no agent that could fail.")
    place = phase.id if task is None else f"{phase.id}/{task.spec.id}"
    state = _out_of_wave(state.with_visit(place), work)
    if report.reason is FailureReason.BUDGET:
        return _ask(pipeline, state, work, Reason.BUDGET, report.message, report.at)
    if report.reason is FailureReason.CONFLICT and task is not None:
        # The agent is not at fault, so the attempt does not count. This cannot repeat forever: the
        # conflicting task has been merged.
        state = state.with_note(phase.id, PROCESS, report.message, task.spec.id)
        return hand_out(pipeline, state, report.at)
    most = pipeline.limits.failure_attempts
    return _again(pipeline, state, work, most, Reason.AGENT_FAILED, report.message, report.at)


def _again(
    pipeline: Pipeline,
    state: State,
    work: Work,
    most: int,
    reason: Reason,
    text: str,
    at: datetime,
    report: ArtifactWritten | None = None,
) -> State:
    """Ask the agent again with a note. After too many attempts, ask a person."""
    phase, task = work
    attempts = 1 + (task.attempts if task is not None else state.attempts)
    work = Work(phase, task.replace(attempts=attempts) if task is not None else None)
    if attempts >= most:
        return _ask(pipeline, state, work, reason, text, at, report=report)
    state = state.with_note(phase.id, PROCESS, text, work.task_id)
    if work.task is None:
        return state.replace(attempts=attempts)
    return hand_out(pipeline, state.with_task(work.task), at)


def _ask(
    pipeline: Pipeline,
    state: State,
    work: Work,
    reason: Reason,
    subject: str,
    at: datetime,
    *,
    files: tuple[ShownVersion, ...] = (),
    report: ArtifactWritten | None = None,
) -> State:
    """Ask a person: about a phase now, about a task when the rest of its wave has reported."""
    phase, task = work
    if task is None:
        return open_decision(pipeline, state, reason, subject, files=files, report=report)
    review = isinstance(phase, TaskReviewPhase)
    stuck = Stuck(reason=reason, subject=subject, review=review, files=files, report=report)
    return hand_out(pipeline, state.with_task(task.replace(stuck=stuck)), at)


def _out_of_wave(state: State, work: Work) -> State:
    wave = state.wave
    if wave is None:
        return state
    remaining = tuple(name for name in wave.remaining if name != work.task_id)
    return state.replace(wave=wave.replace(remaining=remaining))


# -- calls


def handle_calls_requested(pipeline: Pipeline, state: State, report: CallsRequested) -> State:
    """Return the state with the calls recorded, and the question if a person has to agree.

    The agent is asked anew when they are made, or declined.
    """
    work = _work(pipeline, state, report.task)
    state = _out_of_wave(call_records.requested(state, report), work)
    if report.asks:
        shown = state.versions((report.artifact,))
        subject = call_records.subject(report.calls)
        return _ask(pipeline, state, work, Reason.TOOL_APPROVAL, subject, report.at, files=shown)
    return state if work.task is None else hand_out(pipeline, state, report.at)


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
