"""The statement of a run's evidence: what was asked for, approved, run and by which models, as one
JSON file in the record. It is computed from the reports, so that everybody can compute it again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

from forge_bot.engine import Report, State
from forge_bot.engine.reports import AgentFailed, ArtifactWritten
from forge_bot.values import CommandResult

EVIDENCE = "evidence.json"
_FORMAT = 1

Statement = Mapping[str, object]


def statement(
    state: State, reports: Sequence[Report], recorded: bytes, head: str
) -> dict[str, object]:
    """Return the statement of a run about the commit that it offers; `recorded` are the bytes of
    the reports.
    """
    verification = state.verification
    doubts = set(verification.doubts if verification is not None else ())
    proof = verification.red_before_green if verification is not None else None
    return {
        "format": _FORMAT,
        "run": state.run,
        "request": state.request_hash,
        "base": state.base_commit,
        "head": head,
        "approvals": [
            decision.model_dump(mode="json", by_alias=True)
            for decision in (*state.decisions, *state.agreed)
        ],
        "commands": [_command(result) for result in (verification.results if verification else ())],
        "redBeforeGreen": proof.model_dump(mode="json", by_alias=True) if proof else None,
        "doubts": sorted(doubts),
        "models": _models(reports),
        "reports": {"count": len(reports), "sha256": hashlib.sha256(recorded).hexdigest()},
    }


def evidence_file(stated: Statement) -> bytes:
    """Return the bytes of the statement's file."""
    return (json.dumps(stated, indent=2, ensure_ascii=False) + "\n").encode()


def _command(result: CommandResult) -> dict[str, object]:
    return {
        "name": result.name.value,
        "argv": list(result.argv),
        "exitCode": result.exit_code,
        "timedOut": result.timed_out,
        "tests": result.tests,
    }


def _models(reports: Sequence[Report]) -> list[dict[str, object]]:
    """Return which model was asked for which document, in order; each once."""
    asked: list[dict[str, object]] = [
        {"phase": report.phase, "task": report.task, "model": report.usage.model}
        for report in reports
        if isinstance(report, ArtifactWritten | AgentFailed) and report.usage.model
    ]
    return [one for number, one in enumerate(asked) if one not in asked[:number]]
