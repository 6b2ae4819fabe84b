"""Past runs to learn from: made of a few words, or read from the files of a workspace."""

import json
from collections.abc import Sequence

from forge_bot.engine.reports import REPORT, Answer, Answered, ArtifactWritten, Report, RetryAsked
from forge_bot.knowledge.history import PastRun
from forge_bot.values import Finding, Inspection, PhaseId, RunStatus, Severity, Verdict
from tests.fakes.bench import START, Bench

CRITICAL, MAJOR, MINOR = Severity.CRITICAL, Severity.MAJOR, Severity.MINOR


def past_run(
    name: str,
    title: str = "",
    *,
    request: str = "",
    summary: str = "",
    date: str = "2026-01-01",
    files: Sequence[str] = (),
    findings: Sequence[str | tuple[Severity, str]] = (),
    friction: Sequence[str] = (),
) -> PastRun:
    """A finished run; findings without a severity are MAJOR."""
    told = [found if isinstance(found, tuple) else (MAJOR, found) for found in findings]
    return PastRun(
        name=name,
        title=title,
        request=request,
        summary=summary,
        files=tuple(files),
        outcome=RunStatus.COMPLETED,
        date=date,
        findings=tuple(Finding(severity=severity, description=text) for severity, text in told),
        friction=tuple(friction),
    )


def past_state(**changes: object) -> str:
    """The state.json of a run, with some of its values changed."""
    return json.dumps(Bench().state.model_dump(mode="json", by_alias=True) | changes)


def reviewed(*findings: tuple[Severity, str], verdict: Verdict = Verdict.REVISE) -> ArtifactWritten:
    """The report of a design's review."""
    told = tuple(Finding(severity=severity, description=text) for severity, text in findings)
    return ArtifactWritten(
        key=str(told),
        at=START,
        action_id="phase-3b.1",
        phase=PhaseId("phase-3b"),
        artifact="review-design.md",
        blob="",
        inspection=Inspection(verdict=verdict, findings=told),
    )


def answered(answer: Answer, notes: str) -> Answered:
    gate = PhaseId("checkpoint-a")
    return Answered(key=notes, at=START, gate=gate, answer=answer, notes=notes, by="ann", via="x")


def retried(notes: str) -> RetryAsked:
    phase = PhaseId("phase-3")
    return RetryAsked(key=notes or "retry", at=START, phase=phase, notes=notes, by="ann", via="x")


def report_lines(*reports: Report) -> str:
    return "".join(f"{REPORT.dump_json(report).decode()}\n" for report in reports)
