"""The artifacts of a run as its state records them, and what an inspection says of them."""

from forge_bot.engine.phases import ReviewPhase, TaskReviewPhase
from forge_bot.engine.reports import ArtifactWritten
from forge_bot.engine.state import ArtifactRecord, State
from forge_bot.values import Finding, PhaseId, Verdict


def join_findings(findings: tuple[Finding, ...]) -> str:
    """Join findings to one line for a note."""
    return (
        "; ".join(f"[{finding.severity.value}] {finding.description}" for finding in findings)
        or "see its text"
    )


def verdict_of(phase: ReviewPhase | TaskReviewPhase, report: ArtifactWritten) -> Verdict:
    verdict = report.inspection.verdict
    return verdict if verdict is not None and verdict in phase.verdicts else Verdict.UNREADABLE


def complaint_about(report: ArtifactWritten, *, unreadable: bool) -> str:
    problems = [str(problem) for problem in report.inspection.problems]
    if unreadable:
        problems.append("no single readable verdict that agrees with the findings")
    return f"{report.artifact} cannot be used: " + "; ".join(problems)


def with_artifact(state: State, report: ArtifactWritten, phase: PhaseId) -> State:
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
        next_document=report.inspection.next_document,
    )
    risks = _risks(state, report)
    artifacts = {**state.artifacts, report.artifact: record}
    if report.held is not None:
        artifacts[report.held] = ArtifactRecord(blob=report.held_blob, phase=phase, round=visits)
    return state.replace(artifacts=artifacts, visits={**state.visits, place: visits}, risks=risks)


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
