"""Apply reports on actions: artifacts, failures, commands, publications."""

from datetime import datetime
from typing import assert_never

from forge_bot.engine import call_records
from forge_bot.engine.gates import open_decision
from forge_bot.engine.next_action import action_id
from forge_bot.engine.pipeline import (
    AgentPhase,
    Pipeline,
    PublishPhase,
    ReviewPhase,
    SetupPhase,
    StepPhase,
    TaskReviewPhase,
    TasksPhase,
    VerifyPhase,
)
from forge_bot.engine.post_to_source import ask_to_post
from forge_bot.engine.reports import (
    ActionFailed,
    AgentFailed,
    ArtifactWritten,
    CallBegun,
    CallEnded,
    CallOutcome,
    CallsRequested,
    CommandsRan,
    FailureReason,
    Prepared,
    PublicationAsked,
    Published,
)
from forge_bot.engine.state import (
    ArtifactRecord,
    Reason,
    ShownVersion,
    State,
    Stuck,
    TaskState,
    TaskStatus,
    Verification,
)
from forge_bot.engine.transitions import (
    PROCESS,
    add_fix,
    add_note,
    complete,
    enter,
    hand_out,
    send_back,
)
from forge_bot.errors import WrongAction, WrongReport
from forge_bot.values import CommandName, Finding, PhaseId, Severity, TaskId, Verdict

OnAction = (
    Prepared
    | ArtifactWritten
    | AgentFailed
    | CallsRequested
    | CallBegun
    | CallEnded
    | CommandsRan
    | Published
    | PublicationAsked
    | ActionFailed
)


def handle_work_report(pipeline: Pipeline, state: State, report: OnAction) -> State:
    """Return the state after the report on an action, successful or failed."""
    _expect(pipeline, state, report.action_id)
    match report:
        case Prepared():
            return _prepared(pipeline, state, report)
        case ArtifactWritten():
            return _artifact(pipeline, state, report)
        case AgentFailed():
            return _failed(pipeline, state, report)
        case CallsRequested():
            return _calls_requested(pipeline, state, report)
        case CallBegun():
            return call_records.begun(state, report)
        case CallEnded():
            return _call_ended(pipeline, state, report)
        case CommandsRan():
            return _verified(pipeline, state, report)
        case Published():
            return _published(pipeline, state, report)
        case PublicationAsked():
            return ask_to_post(pipeline, state)
        case ActionFailed():
            return _action_failed(pipeline, state, report)
        case _:
            assert_never(report)


def log_line(report: OnAction) -> str:
    """Summarise the report in one line for the log."""
    match report:
        case Prepared():
            return f"prepared: {len(report.results)} commands ran"
        case ArtifactWritten():
            verdict = report.inspection.verdict
            return f"{report.artifact} written" + (
                f": {verdict.value}" if verdict is not None else ""
            )
        case AgentFailed():
            return f"no answer ({report.reason.value}): {report.message}"
        case CallsRequested():
            return "asked for " + ", ".join(call.capability for call in report.calls)
        case CallBegun():
            return f"call {report.index + 1} of {report.artifact} begun"
        case CallEnded():
            return f"call {report.index + 1} of {report.artifact} ended: {report.outcome.value}"
        case CommandsRan():
            return "commands ran: " + ", ".join(
                f"{result.name.value} {result.exit_code}" for result in report.results
            )
        case Published():
            return report.detail
        case PublicationAsked():
            return "asked before anything is posted"
        case ActionFailed():
            return f"failed: {report.message}"
        case _:
            assert_never(report)


def reenter_phase(pipeline: Pipeline, state: State, at: datetime) -> State:
    """Return the run at its current phase as if it had just entered it."""
    return enter(pipeline, state, pipeline.position(state.current_phase), at)


def _expect(pipeline: Pipeline, state: State, name: str) -> None:
    review = pipeline.task_review
    phase: PhaseId = state.current_phase
    if state.wave is not None:
        phase = (
            review.id if state.wave.review and review is not None else pipeline.implementation.id
        )
    outstanding = action_id(state, phase)
    if state.gate is not None or name != outstanding:
        waiting = f"an answer at {state.gate.name}" if state.gate is not None else outstanding
        raise WrongAction(f"{name} is not outstanding; what is: {waiting}.")


# -- setup
# --------------------------------------------------------------------------------------------------


def _prepared(pipeline: Pipeline, state: State, report: Prepared) -> State:
    if not isinstance(pipeline.phase(state.current_phase), SetupPhase):
        raise WrongReport(f"{state.current_phase} is not answered by a preparation.")
    baseline = tuple(result for result in report.results if result.name is not CommandName.SETUP)
    state = state.replace(
        baseline=baseline,
        unusable=report.unusable,
        risks=tuple(dict.fromkeys((*state.risks, *report.risks))),
    )
    if report.unusable:
        return _ask_about_baseline(pipeline, state, report)
    broken = [
        result
        for result in report.results
        if result.name is CommandName.SETUP and result.exit_code != 0
    ]
    if broken:
        subject = (
            f"`{' '.join(broken[0].argv)}` ended with {broken[0].exit_code}:\n{broken[0].tail}"
        )
        return open_decision(pipeline, state, Reason.SETUP_FAILED, subject)
    return complete(pipeline, state, report.at)


def _ask_about_baseline(pipeline: Pipeline, state: State, report: Prepared) -> State:
    """Return the state with the question about the commands that tell nothing.

    An approval goes on and judges without them. A rejection runs setup and baseline once more.
    """
    record = ArtifactRecord(
        blob=report.blob,
        phase=state.current_phase,
        round=state.rounds.get(pipeline.decision.id, 0) + 1,
    )
    state = state.replace(artifacts={**state.artifacts, report.artifact: record})
    from forge_bot.verification.judgement import said_before

    subject = "; ".join(said_before(each) for each in report.unusable) + "."
    shown = (ShownVersion(name=report.artifact, blob=report.blob),)
    return open_decision(pipeline, state, Reason.BASELINE, subject, files=shown)


# -- artifacts
# --------------------------------------------------------------------------------------------------


def _artifact(pipeline: Pipeline, state: State, report: ArtifactWritten) -> State:
    if report.task is not None or state.wave is not None:
        return _task_artifact(pipeline, state, report)
    phase = pipeline.phase(state.current_phase)
    if (
        not isinstance(phase, AgentPhase | ReviewPhase | VerifyPhase | StepPhase)
        or report.artifact != phase.writes
    ):
        raise WrongReport(f"{state.current_phase} is not answered by {report.artifact}.")
    if isinstance(phase, VerifyPhase) and state.verification is None:
        raise WrongReport(f"{phase.id} needs the project's commands to run first.")
    state = _recorded(state, report, phase.id)
    unreadable = isinstance(phase, ReviewPhase) and _verdict(phase, report) is Verdict.UNREADABLE
    if not report.inspection.problems and not unreadable:
        return accept(pipeline, state, report)
    if state.attempts + 1 < pipeline.limits.artifact_attempts:
        return add_note(
            state, phase.id, PROCESS, _complaint(report, unreadable=unreadable)
        ).replace(attempts=state.attempts + 1)
    reason = Reason.INVALID_ARTIFACT if report.inspection.problems else Reason.UNREADABLE_VERDICT
    return open_decision(
        pipeline, state, reason, _complaint(report, unreadable=unreadable), report=report
    )


def accept(
    pipeline: Pipeline, state: State, report: ArtifactWritten, *, anyway: bool = False
) -> State:
    """Return the state after an artifact was accepted.

    With `anyway`, a person accepts it in spite of what is missing.
    """
    phase = pipeline.phase(state.current_phase)
    if isinstance(phase, AgentPhase) and phase.tasks:
        state = state.replace(tasks=tuple(TaskState(spec=spec) for spec in report.inspection.tasks))
    unneeded = report.inspection.nothing_to_do
    if isinstance(phase, AgentPhase) and phase.may_end_run and unneeded is not None:
        said = f"{phase.label}: {unneeded.why.value}."
        return open_decision(pipeline, state, Reason.NOTHING_TO_DO, said, report=report)
    if not isinstance(phase, ReviewPhase):
        return complete(pipeline, state, report.at)
    verdict = _verdict(phase, report)
    if verdict.positive or (anyway and verdict is Verdict.UNREADABLE):
        return complete(pipeline, state, report.at)
    return _refused(pipeline, state, phase, report)


def _refused(
    pipeline: Pipeline, state: State, phase: ReviewPhase, report: ArtifactWritten
) -> State:
    count = state.rounds.get(phase.id, 0) + 1
    state = state.replace(rounds={**state.rounds, phase.id: count})
    findings = report.inspection.findings
    text = (
        f"{report.artifact} says {_verdict(phase, report).value}. Work off:"
        f" {join_findings(findings)}"
    )
    if count <= phase.rounds:
        if phase.sends_back_to is not None:
            return send_back(pipeline, state, phase, phase.sends_back_to, text)
        return add_fix(
            pipeline,
            state,
            report.artifact,
            f"Work off the {phase.label.lower()}",
            findings,
            report.at,
        )
    if phase.sends_back_to is not None:
        # The gate that follows shows the open findings; a person decides there.
        return complete(pipeline, state, report.at)
    return open_decision(pipeline, state, Reason.ROUNDS_EXHAUSTED, text, report=report)


def join_findings(findings: tuple[Finding, ...]) -> str:
    """Join findings to one line for a note."""
    return (
        "; ".join(f"[{finding.severity.value}] {finding.description}" for finding in findings)
        or "see its text"
    )


def _verdict(phase: ReviewPhase | TaskReviewPhase, report: ArtifactWritten) -> Verdict:
    verdict = report.inspection.verdict
    return verdict if verdict is not None and verdict in phase.verdicts else Verdict.UNREADABLE


def _complaint(report: ArtifactWritten, *, unreadable: bool) -> str:
    problems = [str(problem) for problem in report.inspection.problems]
    if unreadable:
        problems.append("no single readable verdict that agrees with the findings")
    return f"{report.artifact} cannot be used: " + "; ".join(problems)


def _recorded(state: State, report: ArtifactWritten, phase: PhaseId) -> State:
    place = phase if report.task is None else PhaseId(f"{phase}/{report.task}")
    visits = state.visits.get(place, 0) + 1
    record = ArtifactRecord(
        blob=report.blob,
        phase=phase,
        round=visits,
        verdict=report.inspection.verdict,
        findings=report.inspection.findings,
        risks=report.risks,
        title=report.inspection.title,
        one_task=report.inspection.one_task,
        planned=report.inspection.planned,
        reach=report.inspection.reach,
        sections=report.inspection.sections,
    )
    risks = _risks(state, report)
    artifacts = {**state.artifacts, report.artifact: record}
    if report.held is not None:
        artifacts[report.held] = ArtifactRecord(blob=report.held_blob, phase=phase, round=visits)
    return state.replace(
        artifacts=artifacts,
        visits={**state.visits, place: visits},
        risks=risks,
    )


def _risks(state: State, report: ArtifactWritten) -> tuple[str, ...]:
    """Return the risk flags of the run with those of this version of an artifact.

    Flags that only the last version of the artifact had are removed.
    """
    last = state.artifacts.get(report.artifact)
    others = {
        risk
        for name, record in state.artifacts.items()
        if name != report.artifact
        for risk in record.risks
    }
    over = set(last.risks) - others if last is not None else set[str]()
    return tuple(
        dict.fromkeys((*(risk for risk in state.risks if risk not in over), *report.risks))
    )


# -- calls of tools
# --------------------------------------------------------------------------------------------------


def _calls_requested(pipeline: Pipeline, state: State, report: CallsRequested) -> State:
    """Return the state with the calls recorded, and the question if a person has to agree.

    The agent is asked anew when they are made, or declined.
    """
    task = state.task(report.task) if report.task is not None else None
    state = call_records.requested(state, report)
    shown = (ShownVersion(name=report.artifact, blob=report.blob),)
    subject = call_records.subject(report.calls)
    if task is None:
        if not report.asks:
            return state
        return open_decision(pipeline, state, Reason.TOOL_APPROVAL, subject, files=shown)
    wave = state.wave
    if wave is None or task.spec.id not in wave.remaining:
        raise WrongReport(f"Task {task.spec.id} is not being worked on.")
    state = _remove_from_wave(state, task.spec.id)
    if report.asks:
        stuck = Stuck(reason=Reason.TOOL_APPROVAL, subject=subject, review=wave.review, files=shown)
        state = state.with_task(task.model_copy(update={"stuck": stuck}))
    return hand_out(pipeline, state, report.at)


def _call_ended(pipeline: Pipeline, state: State, report: CallEnded) -> State:
    """Return the state after a call; when the last is over, the agent that asked goes on."""
    state = call_records.ended(state, report)
    if report.outcome is CallOutcome.UNKNOWN:
        call = call_records.of(state, report)
        shown = tuple(
            ShownVersion(name=name, blob=state.artifacts[name].blob)
            for name in (report.artifact, report.result)
        )
        return open_decision(
            pipeline,
            state,
            Reason.OUTCOME_UNKNOWN,
            f"{call.capability} was begun, and no answer came back.",
            files=shown,
            task=call.task,
        )
    return after_calls(pipeline, state, report.at)


def after_calls(pipeline: Pipeline, state: State, at: datetime) -> State:
    """Return the run where its agents go on, if no call is left to be made."""
    waiting_tasks = isinstance(pipeline.phase(state.current_phase), TasksPhase | TaskReviewPhase)
    if call_records.outstanding_call(state) is not None or not waiting_tasks:
        return state
    return hand_out(pipeline, state, at)


# -- tasks
# --------------------------------------------------------------------------------------------------


def _task_artifact(pipeline: Pipeline, state: State, report: ArtifactWritten) -> State:
    task = _task(state, report.task)
    if task.status is TaskStatus.CLEARED and state.wave is None:
        state = _recorded(state, report, pipeline.implementation.id)
        return hand_out(pipeline, state.with_task(_implemented(task)), report.at)
    wave = state.wave
    if wave is None or task.spec.id not in wave.remaining:
        raise WrongReport(f"Task {task.spec.id} is not being worked on.")
    review = pipeline.task_review
    phase = review if wave.review and review is not None else pipeline.implementation
    if report.artifact != phase.writes.replace("{task}", task.spec.id):
        raise WrongReport(f"Task {task.spec.id} is not answered by {report.artifact}.")
    state = _remove_from_wave(_recorded(state, report, phase.id), task.spec.id)
    unreadable = (
        isinstance(phase, TaskReviewPhase) and _verdict(phase, report) is Verdict.UNREADABLE
    )
    if report.inspection.problems or unreadable:
        state = _task_invalid(pipeline, state, task, report, phase, unreadable=unreadable)
    elif isinstance(phase, TasksPhase):
        state = _task_implemented(state, task, report)
    else:
        state = _task_reviewed(state, task, report, phase, pipeline.implementation.id)
    return hand_out(pipeline, state, report.at)


def _task(state: State, task_id: TaskId | None) -> TaskState:
    task = state.task(task_id) if task_id is not None else None
    if task is None:
        raise WrongReport(f"The run has no task {task_id}.")
    return task


def _remove_from_wave(state: State, task_id: TaskId) -> State:
    wave = state.wave
    if wave is None:
        return state
    remaining = tuple(name for name in wave.remaining if name != task_id)
    return state.replace(wave=wave.model_copy(update={"remaining": remaining}))


def _implemented(task: TaskState) -> TaskState:
    return task.model_copy(update={"status": TaskStatus.IMPLEMENTED, "attempts": 0, "stuck": None})


def _task_implemented(state: State, task: TaskState, report: ArtifactWritten) -> State:
    state = state.replace(notes=tuple(note for note in state.notes if note.task != task.spec.id))
    return state.with_task(task_after_work(task, report))


def task_after_work(task: TaskState, report: ArtifactWritten) -> TaskState:
    """Return the task as implemented.

    A task that touches protected paths is stuck until a person answers.
    """
    if report.held is None:
        return _implemented(task)
    stuck = Stuck(
        reason=Reason.PROTECTED_PATHS,
        subject="it changes protected paths: " + ", ".join(report.held_paths),
        files=(ShownVersion(name=report.held, blob=report.held_blob),),
        report=report,
    )
    return task.model_copy(update={"stuck": stuck, "attempts": 0})


def _task_reviewed(
    state: State,
    task: TaskState,
    report: ArtifactWritten,
    phase: TaskReviewPhase,
    implementation: PhaseId,
) -> State:
    verdict = _verdict(phase, report)
    if verdict.positive:
        passed = {"status": TaskStatus.PASSED, "verdict": verdict, "attempts": 0, "stuck": None}
        return state.with_task(task.model_copy(update=passed))
    rounds = task.rounds + 1
    text = (
        f"{report.artifact} says {verdict.value}. Work off:"
        f" {join_findings(report.inspection.findings)}"
    )
    failed = task.model_copy(update={"verdict": verdict, "rounds": rounds, "attempts": 0})
    if rounds <= phase.rounds:
        state = add_note(state, implementation, phase.agent, text, task.spec.id)
        return state.with_task(failed.model_copy(update={"status": TaskStatus.PENDING}))
    stuck = Stuck(reason=Reason.ROUNDS_EXHAUSTED, subject=text, review=True, report=report)
    return state.with_task(failed.model_copy(update={"stuck": stuck}))


def _task_invalid(
    pipeline: Pipeline,
    state: State,
    task: TaskState,
    report: ArtifactWritten,
    phase: TasksPhase | TaskReviewPhase,
    *,
    unreadable: bool,
) -> State:
    complaint = _complaint(report, unreadable=unreadable)
    tried = task.model_copy(update={"attempts": task.attempts + 1})
    if tried.attempts < pipeline.limits.artifact_attempts:
        return add_note(state.with_task(tried), phase.id, PROCESS, complaint, task.spec.id)
    reason = Reason.INVALID_ARTIFACT if report.inspection.problems else Reason.UNREADABLE_VERDICT
    stuck = Stuck(
        reason=reason, subject=complaint, review=isinstance(phase, TaskReviewPhase), report=report
    )
    return state.with_task(tried.model_copy(update={"stuck": stuck}))


# -- failures
# --------------------------------------------------------------------------------------------------


def _failed(pipeline: Pipeline, state: State, report: AgentFailed) -> State:
    if state.wave is not None:
        return _task_failed(pipeline, state, report)
    phase = pipeline.phase(state.current_phase)
    if not isinstance(phase, AgentPhase | ReviewPhase | VerifyPhase):
        raise WrongReport(f"{state.current_phase} has no agent that could fail.")
    state = state.replace(visits={**state.visits, phase.id: state.visits.get(phase.id, 0) + 1})
    if report.reason is FailureReason.BUDGET:
        return open_decision(pipeline, state, Reason.BUDGET, report.message)
    if state.attempts + 1 < pipeline.limits.failure_attempts:
        return add_note(state, phase.id, PROCESS, report.message).replace(
            attempts=state.attempts + 1
        )
    return open_decision(pipeline, state, Reason.AGENT_FAILED, report.message)


def _task_failed(pipeline: Pipeline, state: State, report: AgentFailed) -> State:
    task = _task(state, report.task)
    wave = state.wave
    if wave is None or task.spec.id not in wave.remaining:
        raise WrongReport(f"Task {task.spec.id} is not being worked on.")
    review = pipeline.task_review
    phase = review if wave.review and review is not None else pipeline.implementation
    place = f"{phase.id}/{task.spec.id}"
    state = _remove_from_wave(
        state.replace(visits={**state.visits, place: state.visits.get(place, 0) + 1}), task.spec.id
    )
    tried = task.model_copy(update={"attempts": task.attempts + 1})
    if report.reason is FailureReason.BUDGET:
        stuck = Stuck(reason=Reason.BUDGET, subject=report.message, review=wave.review)
        state = state.with_task(task.model_copy(update={"stuck": stuck}))
    elif report.reason is FailureReason.CONFLICT:
        # The agent is not at fault, so the attempt does not count. This cannot repeat forever: the
        # conflicting task has been merged.
        state = add_note(state, phase.id, PROCESS, report.message, task.spec.id)
    elif tried.attempts < pipeline.limits.failure_attempts:
        state = add_note(state.with_task(tried), phase.id, PROCESS, report.message, task.spec.id)
    else:
        stuck = Stuck(reason=Reason.AGENT_FAILED, subject=report.message, review=wave.review)
        state = state.with_task(tried.model_copy(update={"stuck": stuck}))
    return hand_out(pipeline, state, report.at)


# -- commands and publications
# --------------------------------------------------------------------------------------------------


def _verified(pipeline: Pipeline, state: State, report: CommandsRan) -> State:
    phase = pipeline.phase(state.current_phase)
    if not isinstance(phase, VerifyPhase) or state.verification is not None:
        raise WrongReport(f"{state.current_phase} does not wait for commands.")
    # Knows the output of many tools; a run before its verification needs none of it.
    from forge_bot.verification.judgement import judge

    judgement = judge(
        state.baseline, report.results, state.unusable, report.rules, report.broken_rules
    )
    record = ArtifactRecord(
        blob=report.blob, phase=phase.id, round=state.visits.get(phase.id, 0) + 1
    )
    verification = Verification(
        results=report.results,
        red=judgement.red,
        reasons=judgement.reasons,
        notes=judgement.notes,
        red_before_green=report.red_before_green,
        requirements=report.requirements,
    )
    state = state.replace(
        artifacts={**state.artifacts, report.artifact: record}, verification=verification
    )
    if not judgement.red:
        return state
    count = state.rounds.get(phase.id, 0) + 1
    state = state.replace(rounds={**state.rounds, phase.id: count})
    if count > phase.rounds:
        shown = (ShownVersion(name=report.artifact, blob=report.blob),)
        return open_decision(
            pipeline, state, Reason.VERIFICATION_RED, "; ".join(judgement.reasons), files=shown
        )
    findings = tuple(
        Finding(severity=Severity.CRITICAL, description=reason) for reason in judgement.reasons
    )
    return add_fix(
        pipeline, state, report.artifact, "Make the verification green", findings, report.at
    )


def _published(pipeline: Pipeline, state: State, report: Published) -> State:
    phase = pipeline.phase(state.current_phase)
    if not isinstance(phase, PublishPhase):
        raise WrongReport(f"{state.current_phase} publishes nothing.")
    if phase.operation == "pull-request" and report.url:
        state = state.replace(pull_request=report.url)
    if report.branch:
        state = state.replace(pull_request_branch=report.branch)
    return complete(pipeline, state, report.at)


def _action_failed(pipeline: Pipeline, state: State, report: ActionFailed) -> State:
    cleared = next((task for task in state.tasks if task.status is TaskStatus.CLEARED), None)
    if cleared is not None:
        tried = cleared.model_copy(
            update={"status": TaskStatus.PENDING, "attempts": cleared.attempts + 1}
        )
        text = f"The approved change could not be applied: {report.message}"
        state = add_note(
            state.with_task(tried), pipeline.implementation.id, PROCESS, text, cleared.spec.id
        )
        return hand_out(pipeline, state, report.at)
    return open_decision(pipeline, state, Reason.ACTION_FAILED, report.message)
