"""The artifacts of a run as its state records them, and what an inspection says of them."""

from typing import Any

from forge_bot.engine.phases import ReviewPhase, TaskReviewPhase
from forge_bot.engine.reports import ArtifactWritten
from forge_bot.engine.state import ArtifactRecord, State
from forge_bot.values import DocumentFacts, Finding, Inspection, PhaseId, Verdict

_UNCLEAR = "no single readable verdict that agrees with the findings"
_FACTS = ("title", "one_task", "planned", "sections")


def join_findings(findings: tuple[Finding, ...]) -> str:
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
        problems += report.inspection.contradictions or (_UNCLEAR,)
    return f"{report.artifact} cannot be used: " + "; ".join(problems)


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
    state = state.replace(risks=_risks(state, report)).with_document(report.artifact, record)
    if report.held is None:
        return state
    held = ArtifactRecord(blob=report.held_blob, phase=phase, round=visits)
    return state.with_document(report.held, held)


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
