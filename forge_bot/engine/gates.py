"""Gates: questions to a person.

A gate opens with a digest of the shown documents. An answer counts only for that digest.
Before the result is posted to the tracker, a person approves exactly the summary that is posted.
"""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime

from forge_bot.engine.phases import GatePhase, PublishPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import Answer, Answered, AnswerWords, ArtifactWritten
from forge_bot.engine.state import Decision, OpenGate, Reason, ShownVersion, State
from forge_bot.errors import (
    AnswerNotOffered,
    NoGateOpen,
    NotesRequired,
    StaleApproval,
    WrongAction,
    WrongReport,
)
from forge_bot.gate.arguments import SHOWN_DIGEST, names_version
from forge_bot.values import Finding, PhaseId, RunStatus, Severity, TaskId, Unneeded, Verdict

BOUND = frozenset({Answer.APPROVE, Answer.POST})
"""Answers that count only for the version that was shown."""

WITH_WORDS = frozenset({Answer.REJECT, Answer.ANSWER})
"""Answers that mean nothing without words."""

AUTO = "auto"
"""The name of the approver under --auto."""

UNASKED = "--yes"
"""The way of an answer that nobody was asked for: the demo gives it with `--yes`."""

SCRIPT = "script"
"""The way of an answer that a command gave without a terminal."""

WHY_AUTO = (
    "the review says APPROVE, none of its findings is above MINOR, and nothing is marked as a risk"
)
"""The reason for which `is_approved_by_auto` passes a gate, for people."""


def digest_in(
    state: State, name: PhaseId, round_: int, files: Iterable[ShownVersion], subject: str = ""
) -> str:
    """Return the digest that an approval is bound to, as hexadecimal sha256."""
    shown = [[file.name, file.blob] for file in files]
    named = [name, round_, state.request_hash, state.base_commit, subject, shown]
    text = json.dumps(named, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def open_gate(
    state: State,
    name: PhaseId,
    *,
    resume_at: PhaseId,
    files: tuple[ShownVersion, ...] = (),
    options: tuple[str, ...] = ("approve", "reject"),
    subject: str = "",
    reason: Reason | None = None,
    task: TaskId | None = None,
    findings: tuple[Finding, ...] = (),
    report: ArtifactWritten | None = None,
) -> State:
    round_ = state.rounds.get(name, 0) + 1
    gate = OpenGate(
        name=name,
        round=round_,
        digest=digest_in(state, name, round_, files, subject),
        files=files,
        options=options,
        subject=subject,
        reason=reason,
        resume_at=resume_at,
        task=task,
        findings=findings,
        report=report,
    )
    asking = state.replace(gate=gate, current_phase_status=RunStatus.AWAITING_HUMAN)
    return asking.with_round(name, round_)


def open_decision(
    pipeline: Pipeline,
    state: State,
    reason: Reason,
    subject: str,
    *,
    files: tuple[ShownVersion, ...] = (),
    task: TaskId | None = None,
    report: ArtifactWritten | None = None,
) -> State:
    """Return the state with the exceptional gate open.

    Its answers depend on what can be accepted.
    """
    findings = report.inspection.findings if report is not None else ()
    shown = (ShownVersion(name=report.artifact, blob=report.blob),) if report is not None else ()
    return open_gate(
        state,
        pipeline.decision.id,
        resume_at=state.current_phase,
        files=(*shown, *files),
        options=_options(reason, report),
        subject=subject,
        reason=reason,
        task=task,
        findings=findings,
        report=report,
    )


def _options(reason: Reason, report: ArtifactWritten | None) -> tuple[str, ...]:
    inspection = report.inspection if report is not None else None
    if reason is Reason.AGENT_FAILED or (inspection is not None and inspection.fatal):
        return ("reject",)
    if reason is Reason.BUDGET:
        return ("approve",)
    unneeded = inspection.nothing_to_do if inspection is not None else None
    if unneeded is not None and unneeded.why is Unneeded.UNCLEAR:
        return ("answer", "approve")
    return ("approve", "reject")


def refresh(state: State) -> State:
    """Return the open gate after artifacts changed: same question, new digest."""
    gate = state.gate
    if gate is None:
        return state
    files = tuple(next(iter(state.versions((file.name,))), file) for file in gate.files)
    fresh = digest_in(state, gate.name, gate.round, files, gate.subject)
    return state.replace(gate=gate.replace(files=files, digest=fresh))


def is_approved_by_auto(state: State, gate: GatePhase) -> bool:
    """Return whether `--auto` answers this gate.

    It does if the reviewer said APPROVE, no finding is above MINOR and nothing is marked as a risk.
    """
    reviews = [
        state.artifacts[name]
        for name in gate.shows
        if name in state.artifacts and state.artifacts[name].verdict
    ]
    heavy = any(
        finding.severity is not Severity.MINOR for review in reviews for finding in review.findings
    )
    return (
        state.flags.auto
        and bool(reviews)
        and all(review.verdict is Verdict.APPROVE for review in reviews)
        and not heavy
        and not state.risks
    )


def is_approved(state: State, gate: GatePhase) -> bool:
    """Return whether a person approved the current version that the gate shows."""
    return is_agreed(state, gate.id, Answer.APPROVE, state.versions(gate.shows))


def is_agreed(
    state: State, name: PhaseId, answer: Answer, files: Iterable[ShownVersion], subject: str = ""
) -> bool:
    """Return whether a person answered so to the last question about this version."""
    bound = digest_in(state, name, state.rounds.get(name, 0), files, subject)
    agreed = (name, answer, bound)
    return any((past.gate, past.answer, past.digest) == agreed for past in state.decisions)


def check_answer(state: State, answered: Answered, action_id: str) -> OpenGate:
    """Return the gate that the answer settles. Raises an error if it settles none."""
    gate = state.gate
    if gate is None:
        raise NoGateOpen("No question is open.")
    if gate.name != answered.gate:
        raise NoGateOpen(f"{answered.gate} was answered, but {gate.name} waits.")
    if answered.answer is Answer.ABANDON:
        return gate
    if answered.answer.value not in gate.options:
        offered = ", ".join(dict.fromkeys((*gate.options, Answer.ABANDON)))
        raise AnswerNotOffered(
            f"{gate.name} does not take “{answered.answer.value}”; it takes {offered}."
        )
    if "done" in gate.options and answered.action_id != action_id:
        raise WrongAction(f"The answer must name the action it settles, {action_id}.")
    if answered.answer in WITH_WORDS and not answered.notes.strip():
        raise NotesRequired(f"“{answered.answer}” needs words.")
    if answered.answer in BOUND:
        _check_digest(gate, answered)
    return gate


def _check_digest(gate: OpenGate, answered: Answered) -> None:
    short = gate.digest[:SHOWN_DIGEST]
    if answered.digest is not None:
        if not names_version(answered.digest, gate.digest):
            raise StaleApproval(
                f"The approval names {answered.digest[:SHOWN_DIGEST]}, but {short} waits."
            )
        # Who writes a document can make two whose digests begin alike.
        others = (showing.digest for showing in gate.shown if showing.digest != gate.digest)
        if any(names_version(answered.digest, other) for other in others):
            raise StaleApproval(
                f"{answered.digest[:SHOWN_DIGEST]} begins the digest of another version too, which"
                " was shown; the whole digest names one."
            )
        return
    before = [showing for showing in gate.shown if showing.at <= answered.at]
    if not before:
        raise StaleApproval("Nothing was shown before the approval was given.")
    if any(
        showing.digest != before[-1].digest for showing in gate.shown if showing.at > answered.at
    ):
        raise StaleApproval(f"A newer version, {short}, was shown after the approval was given.")
    if before[-1].digest != gate.digest:
        raise StaleApproval(
            f"What was shown is {before[-1].digest[:SHOWN_DIGEST]}, but it has changed since:"
            f" {short} waits."
        )


def decision_of(gate: OpenGate, answered: Answered) -> Decision:
    """Return an answer with the version of the question that it is bound to."""
    return Decision(
        at=answered.at,
        gate=gate.name,
        answer=answered.answer.value,
        digest=gate.digest,
        by=answered.by,
        via=answered.via,
        **{name: getattr(answered, name) for name in AnswerWords.model_fields},
        reason=gate.reason,
        task=gate.task,
    )


def approvals_of(state: State, decision: Decision) -> tuple[Decision, ...]:
    """Return an answer; an approval with those that settled its question together with it."""
    if decision.answer != Answer.APPROVE:
        return (decision,)
    bound = (decision.gate, decision.digest)
    return (*(one for one in state.agreed if (one.gate, one.digest) == bound), decision)


def agreed_so_far(state: State) -> tuple[Decision, ...]:
    """Return the approvals of the open question that did not settle it."""
    asked = state.gate and (state.gate.name, state.gate.digest)
    return tuple(one for one in state.agreed if (one.gate, one.digest) == asked)


def record_decision(state: State, gate: OpenGate, answered: Answered) -> State:
    return state.replace(
        gate=None,
        decisions=(*state.decisions, decision_of(gate, answered)),
        current_phase_status=RunStatus.IN_PROGRESS,
    )


def record_auto_approval(state: State, gate: GatePhase, at: datetime) -> State:
    """Return the state after a gate was approved automatically."""
    round_ = state.rounds.get(gate.id, 0) + 1
    bound = digest_in(state, gate.id, round_, state.versions(gate.shows))
    decision = Decision(at=at, gate=gate.id, answer="approve", digest=bound, by=AUTO, via=AUTO)
    return state.replace(decisions=(*state.decisions, decision)).with_round(gate.id, round_)


def can_be_posted(pipeline: Pipeline, state: State) -> bool:
    """Return whether there is a summary, the run came from an issue that takes comments, and nobody
    gave --nopr.
    """
    return (
        bool(pipeline.summary)
        and state.source.is_on_forge
        and bool(state.source.url)
        and not state.flags.skip_pr
    )


def ask_to_post(pipeline: Pipeline, state: State) -> State:
    """Return the state with the question open whether the summary is posted."""
    phase = pipeline.phase(state.current_phase)
    if (
        not isinstance(phase, PublishPhase)
        or phase.operation != "post-to-source"
        or not can_be_posted(pipeline, state)
    ):
        raise WrongReport(f"{state.current_phase} asks nobody whether to post.")
    options = (Answer.POST.value, Answer.SKIP.value)
    return open_gate(
        state,
        phase.id,
        resume_at=phase.id,
        files=state.versions((pipeline.summary,)),
        options=options,
        subject=state.source.url,
    )


def may_post(pipeline: Pipeline, state: State) -> bool:
    """Return whether a person agreed to post the summary as it is, in answer to the last question
    about it.
    """
    shown = state.versions((pipeline.summary,))
    return is_agreed(state, state.current_phase, Answer.POST, shown, state.source.url)
