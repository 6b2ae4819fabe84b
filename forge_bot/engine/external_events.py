"""Apply events from outside the phases of a run.

They are a changed request, another effort, an approval in doubt, failed checks, conflicts with the
base, and people's commits.
"""

from forge_bot.engine.gates import open_decision
from forge_bot.engine.handle_report import reenter_phase
from forge_bot.engine.phases import AnyPhase, DecisionPhase, GatePhase, SetupPhase, VerifyPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import (
    ApprovalDoubted,
    BaseConflicted,
    ChecksFailed,
    EffortChanged,
    PeopleCommitted,
    RequestRefreshed,
)
from forge_bot.engine.state import ArtifactRecord, Reason, State
from forge_bot.engine.transitions import add_fix, go_back, is_passed_over
from forge_bot.errors import ReportRejected
from forge_bot.values import Finding, PhaseId, Severity

CHECKS = "checks"
"""The key under which a run counts its rounds over failed checks.

The names of the documents with their logs begin with it.
"""

CHECK_ROUNDS = 2

CONFLICTS = "conflicts"
"""The key under which a run counts merges with conflicts. The names of their documents begin with
it.
"""


def apply_refresh(pipeline: Pipeline, state: State, report: RequestRefreshed) -> State:
    """Return the run with a new request, at its first phase.

    Every artifact made from the old request is written again; the agents see the old version.
    """
    if report.request_hash == state.request_hash:
        raise ReportRejected(
            "The request has not changed.",
            hint="Edit the issue first.",
        )
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
        back = (
            f"Go back with retry {plan.id} first, or abandon the run."
            if (plan := pipeline.approved_first)
            else "Abandon the run first."
        )
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


def apply_failed_checks(pipeline: Pipeline, state: State, report: ChecksFailed) -> State:
    """Add a task that fixes the failed checks of the pull request.

    After two rounds ask a person.
    """
    if state.gate is not None:
        raise ReportRejected(
            f"{state.gate.name} waits for an answer; the checks can be looked at after it."
        )
    count = state.rounds.get(CHECKS, 0) + 1
    record = ArtifactRecord(blob=report.blob, phase=state.current_phase, round=count)
    state = state.with_document(report.artifact, record).with_round(CHECKS, count)
    if count > CHECK_ROUNDS:
        subject = f"still red after {CHECK_ROUNDS} rounds: {', '.join(report.checks)}"
        shown = state.versions((report.artifact,))
        return open_decision(pipeline, state, Reason.CHECKS_RED, subject, files=shown)
    findings = tuple(
        Finding(severity=Severity.CRITICAL, description=f"Mend what the check {name} reports.")
        for name in report.checks
    )
    return add_fix(
        pipeline,
        state,
        report.artifact,
        f"Work on the failed checks: {', '.join(report.checks)}",
        findings,
        report.at,
    )


def apply_conflicts(pipeline: Pipeline, state: State, report: BaseConflicted) -> State:
    """Add a task that brings both sides of a merge together."""
    if state.gate is not None:
        raise ReportRejected(f"{state.gate.name} waits for an answer.")
    count = state.rounds.get(CONFLICTS, 0) + 1
    record = ArtifactRecord(blob=report.blob, phase=state.current_phase, round=count)
    findings = tuple(
        Finding(
            severity=Severity.CRITICAL,
            description=f"{path} does what both sides changed, and has no conflict markers.",
        )
        for path in report.paths
    )
    return add_fix(
        pipeline,
        state.with_document(report.artifact, record).with_round(CONFLICTS, count),
        report.artifact,
        f"Bring the changes of {report.base} and of this run together",
        findings,
        report.at,
        files=report.paths,
    )


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
