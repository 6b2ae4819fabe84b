"""Apply reports on actions: artifacts, failures, commands, publications."""

from collections.abc import Sequence
from datetime import datetime

from forge_bot.engine import call_records
from forge_bot.engine.gates import ask_to_post, open_decision
from forge_bot.engine.next_action import action_id, phase_of_wave
from forge_bot.engine.outcomes import (
    handle_call_ended,
    handle_calls_requested,
    handle_document,
    handle_failure,
)
from forge_bot.engine.phases import PublishPhase, SetupPhase, VerifyPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import (
    ActionFailed,
    AgentFailed,
    ArtifactWritten,
    CallBegun,
    CallEnded,
    CallsRequested,
    CommandsRan,
    Prepared,
    PublicationAsked,
    Published,
    VerifiedCommands,
    WorkReport,
)
from forge_bot.engine.state import ArtifactRecord, Reason, State, TaskStatus, Verification
from forge_bot.engine.transitions import PROCESS, add_fix, complete, enter, hand_out
from forge_bot.errors import WrongAction, WrongReport
from forge_bot.text_format import command_line
from forge_bot.values import CommandName, Finding, Severity

_MOST_DOUBTS = 6


def handle_work_report(pipeline: Pipeline, state: State, report: WorkReport) -> tuple[State, str]:
    """Return the state after the report on an action, successful or failed, and its line in the
    log.
    """
    _expect(pipeline, state, report.action_id)
    match report:
        case Prepared():
            event = f"prepared: {len(report.results)} commands ran"
            return _prepare(pipeline, state, report), event
        case ArtifactWritten():
            verdict = report.inspection.verdict
            event = f"{report.artifact} written{f': {verdict.value}' if verdict else ''}"
            return handle_document(pipeline, state, report), event
        case AgentFailed():
            event = f"no answer ({report.reason.value}): {report.message}"
            return handle_failure(pipeline, state, report), event
        case CallsRequested():
            event = "asked for " + ", ".join(call.capability for call in report.calls)
            return handle_calls_requested(pipeline, state, report), event
        case CallBegun():
            event = f"call {report.index + 1} of {report.artifact} begun"
            return call_records.begun(state, report), event
        case CallEnded():
            event = f"call {report.index + 1} of {report.artifact} ended: {report.outcome.value}"
            return handle_call_ended(pipeline, state, report), event
        case CommandsRan():
            ran = (f"{result.name.value} {result.exit_code}" for result in report.results)
            return _verify(pipeline, state, report), f"commands ran: {', '.join(ran)}"
        case Published():
            return _publish(pipeline, state, report), report.detail
        case PublicationAsked():
            return ask_to_post(pipeline, state), "asked before anything is posted"
        case ActionFailed():
            return _fail_action(pipeline, state, report), f"failed: {report.message}"


def reenter_phase(pipeline: Pipeline, state: State, at: datetime) -> State:
    """Return the run at its current phase as if it had just entered it."""
    return enter(pipeline, state, pipeline.position(state.current_phase), at)


def _expect(pipeline: Pipeline, state: State, name: str) -> None:
    wave = state.wave
    phase = state.current_phase if wave is None else phase_of_wave(pipeline, review=wave.review).id
    outstanding = action_id(state, phase)
    if state.gate is not None or name != outstanding:
        waiting = f"an answer at {state.gate.name}" if state.gate is not None else outstanding
        raise WrongAction(f"{name} is not outstanding; what is: {waiting}.")


# -- setup


def _prepare(pipeline: Pipeline, state: State, report: Prepared) -> State:
    if not isinstance(pipeline.phase(state.current_phase), SetupPhase):
        raise WrongReport(f"{state.current_phase} is not answered by a preparation.")
    baseline = tuple(result for result in report.results if result.name is not CommandName.SETUP)
    state = state.replace(
        baseline=baseline,
        unusable=report.unusable,
        risks=tuple(dict.fromkeys((*state.risks, *report.risks))),
    )
    if any(not command.left_out for command in report.unusable):
        return _ask_about_baseline(pipeline, state, report)
    broken = [
        result
        for result in report.results
        if result.name is CommandName.SETUP and result.exit_code != 0
    ]
    if broken:
        subject = (
            f"`{command_line(broken[0].argv)}` ended with {broken[0].exit_code}:\n{broken[0].tail}"
        )
        return open_decision(pipeline, state, Reason.SETUP_FAILED, subject)
    return complete(pipeline, state, report.at)


def _ask_about_baseline(pipeline: Pipeline, state: State, report: Prepared) -> State:
    """Return the state with the question about commands without a usable result.

    After an approval the run goes on and judges without them. A rejection runs setup and baseline
    once more.
    """
    record = ArtifactRecord(
        blob=report.blob,
        phase=state.current_phase,
        round=state.rounds.get(pipeline.decision.id, 0) + 1,
    )
    state = state.with_document(report.artifact, record)
    from forge_bot.verification.judgement import said_before

    subject = "; ".join(said_before(one) for one in report.unusable if not one.left_out) + "."
    shown = state.versions((report.artifact,))
    return open_decision(pipeline, state, Reason.BASELINE, subject, files=shown)


# -- commands and publications


def _verify(pipeline: Pipeline, state: State, report: CommandsRan) -> State:
    phase = pipeline.phase(state.current_phase)
    if not isinstance(phase, VerifyPhase) or state.verification is not None:
        raise WrongReport(f"{state.current_phase} does not wait for commands.")
    # Knows the output of many tools; a run before its verification needs none of it.
    from forge_bot.verification.judgement import judge

    judgement = judge(state.baseline, report.results, state.unusable, report.broken_rules)
    record = ArtifactRecord(
        blob=report.blob, phase=phase.id, round=state.visits.get(phase.id, 0) + 1
    )
    facts = {name: getattr(report, name) for name in VerifiedCommands.model_fields}
    verification = Verification(**dict(judgement), **facts)
    state = state.with_document(report.artifact, record).replace(verification=verification)
    shown = state.versions((report.artifact,))
    doubts = [doubt for doubt in verification.doubts if doubt not in state.accepted_doubts]
    if not judgement.red and doubts:
        return open_decision(
            pipeline, state, Reason.DOUBTFUL_EVIDENCE, _name_doubts(doubts), files=shown
        )
    if not judgement.red:
        return state
    count = state.rounds.get(phase.id, 0) + 1
    state = state.with_round(phase.id, count)
    if count > phase.rounds:
        subject = "; ".join(filter(None, (*judgement.reasons, _name_doubts(doubts))))
        return open_decision(pipeline, state, Reason.VERIFICATION_RED, subject, files=shown)
    findings = tuple(
        Finding(severity=Severity.CRITICAL, description=reason) for reason in judgement.reasons
    )
    return add_fix(
        pipeline, state, report.artifact, "Make the verification green", findings, report.at
    )


def _name_doubts(doubts: Sequence[str]) -> str:
    """Return the first doubts as sentences; the document that is shown has all."""
    more = [f"And {len(doubts) - _MOST_DOUBTS} more."] if doubts[_MOST_DOUBTS:] else []
    return " ".join([*(f"{doubt.rstrip('.')}." for doubt in doubts[:_MOST_DOUBTS]), *more])


def _publish(pipeline: Pipeline, state: State, report: Published) -> State:
    phase = pipeline.phase(state.current_phase)
    if not isinstance(phase, PublishPhase):
        raise WrongReport(f"{state.current_phase} publishes nothing.")
    if phase.operation == "pull-request" and report.url:
        state = state.replace(pull_request=report.url)
    if report.branch:
        state = state.replace(pull_request_branch=report.branch)
    return complete(pipeline, state, report.at)


def _fail_action(pipeline: Pipeline, state: State, report: ActionFailed) -> State:
    cleared = next((task for task in state.tasks if task.status is TaskStatus.CLEARED), None)
    if cleared is not None:
        tried = cleared.replace(
            status=TaskStatus.PENDING, attempts=cleared.attempts + 1, drafted=False
        )
        text = f"The approved change could not be applied: {report.message}"
        state = state.with_task(tried).with_note(
            pipeline.implementation.id, PROCESS, text, cleared.spec.id
        )
        return hand_out(pipeline, state, report.at)
    return open_decision(pipeline, state, Reason.ACTION_FAILED, report.message)
