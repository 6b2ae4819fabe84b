"""Past runs to learn from: made of a few words, or read from the files of a workspace."""

import json
from collections.abc import Sequence

from forge_bot.knowledge.past_runs import PastRun
from forge_bot.values import Finding, Severity
from tests.fakes.bench import Bench

CRITICAL, MAJOR, MINOR = Severity.CRITICAL, Severity.MAJOR, Severity.MINOR


def past_run(
    name: str,
    title: str = "",
    *,
    request: str = "",
    summary: str = "",
    date: str = "2026-01-01",
    outcome: str = "done",
    files: Sequence[str] = (),
    findings: Sequence[str | tuple[Severity, str]] = (),
    friction: Sequence[str] = (),
) -> PastRun:
    """A run; findings without a severity are MAJOR, and all are of phase-6."""
    told = [found if isinstance(found, tuple) else (MAJOR, found) for found in findings]
    return PastRun(
        name=name,
        title=title,
        request=request,
        summary=summary,
        files=tuple(files),
        outcome=outcome,
        date=date,
        findings=tuple(
            ("phase-6", Finding(severity=severity, description=text)) for severity, text in told
        ),
        friction=tuple(friction),
    )


def past_state(**changes: object) -> str:
    """The state.json of a run, with some of its values changed."""
    return json.dumps(Bench().state.model_dump(mode="json", by_alias=True) | changes)
