"""Issues for findings in the project's graph: written by a step, approved by their
digest in a question, opened at the end of the run.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from forge_bot.engine.gates import is_approved
from forge_bot.engine.phases import GatePhase, PublishPhase
from forge_bot.engine.step_contracts import FileToWrite, IssuesOutput, IssueToOpen
from forge_bot.engine.steps import Step
from forge_bot.errors import StepFailed
from forge_bot.git import blob_id
from forge_bot.prompts import escape
from forge_bot.runs.run import Run
from forge_bot.text_format import several
from forge_bot.values import Frozen, PhaseId

if TYPE_CHECKING:
    from forge_bot.project.graph.project_graph import ProjectGraph
    from forge_bot.project.graph.verify_graph import GraphFinding


def approval_line(step: Step, what: Sequence[FileToWrite] | Sequence[IssueToOpen]) -> str:
    """Return the line of a question by which an acting step finds its approval."""
    named = [list(file_or_issue.model_dump(mode="json").values()) for file_or_issue in what]
    digest = hashlib.sha256(json.dumps(named, ensure_ascii=False).encode()).hexdigest()
    acts = "writes" if step.kind == "fs_write" else "opens"
    return f"- `{step.step}` {acts} exactly this: sha256 {digest}"


def approves(
    question: str, step: Step, what: Sequence[FileToWrite] | Sequence[IssueToOpen]
) -> bool:
    return approval_line(step, what) in question.splitlines()


_SEVERAL = 5
"""More findings of one code than this share an issue."""

_LISTED = 100
"""Findings in one issue."""

_TITLE = 200

ISSUES = "issues.md"
"""The file with the issues, for hosts that cannot open them."""


class IssueResult(Frozen):
    """One issue at GitHub, and whether this run opened it."""

    number: int
    url: str
    title: str
    opened: bool


def issues_for(
    graph: "ProjectGraph", findings: "list[GraphFinding]", source: str
) -> Iterator[IssueToOpen]:
    """Yield an issue for each finding; for a code that has many, one for all of them."""
    origin = f"Found by forge-bot in {source}." if source else "Found by forge-bot."
    for code in dict.fromkeys(finding.code for finding in findings):
        alike = [finding for finding in findings if finding.code == code]
        groups = [alike] if len(alike) > _SEVERAL else [[finding] for finding in alike]
        for group in groups:
            yield _issue(graph, code, group, origin)


def _issue(
    graph: "ProjectGraph", code: str, findings: "list[GraphFinding]", origin: str
) -> IssueToOpen:
    first = findings[0]
    alone = len(findings) == 1
    words = f"{first.path} {first.message}" if alone else several(len(findings), "finding")
    lines = [
        f"- [ ] {escape.code(f'{finding.path}:{finding.line}')}: {escape.line(finding.message)}"
        for finding in findings[:_LISTED]
    ]
    left = len(findings) - _LISTED
    lines += [f"- and {several(left, 'more finding')}"] if left > 0 else []
    texts = [[finding.message, graph.blob(finding.path)] for finding in findings]
    named = [code, first.node, first.message] if alone else [code]
    return IssueToOpen(
        title=escape.heading(f"{code}: {words}", _TITLE),
        body="\n".join([*lines, "", origin]),
        key=_short(named),
        text=_short(texts),
    )


def _short(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:16]


def approved_issues(run: Run, phase_id: PhaseId) -> list[IssueToOpen]:
    """Return the issues that a run opens. Raises StepFailed unless a person approved exactly them.

    None were made where their step was left out, or failed and need not succeed.
    """
    phase = run.pipeline.phase(phase_id)
    pipeline = run.pipeline.steps
    if pipeline is None or not isinstance(phase, PublishPhase):
        raise AssertionError(phase_id)
    record = run.state.artifacts.get(phase.reads)
    raw = run.workspace.read_bytes(phase.reads)
    if record is None or raw is None or not (document := json.loads(raw)):
        return []
    issues = IssuesOutput.model_validate(document).issues
    step = next(step for step in pipeline.steps if step.document == phase.reads)
    question = pipeline.gate_before(step).question
    gate = next(
        gate
        for gate in run.pipeline.phases
        if isinstance(gate, GatePhase) and gate.shows == (question,)
    )
    shown = run.workspace.read_bytes(question) or b""
    if (
        blob_id(raw) != record.blob
        or blob_id(shown) != run.state.artifacts[question].blob
        or not is_approved(run.state, gate)
        or not approves(shown.decode("utf-8", "replace"), step, issues)
    ):
        raise StepFailed(
            (
                f"{phase.reads} has other issues than {question} shows, or nobody approved "
                "them, so none is opened."
            ),
            hint=f"Try again from {step.step}: the question is asked anew.",
        )
    return issues


def issues_text(issues: list[IssueToOpen]) -> str:
    return "\n".join(f"# {issue.title}\n\n{issue.body}\n" for issue in issues)


def opened_sentence(results: Sequence[IssueResult]) -> str:
    """Return the outcome of opening the issues, in words."""
    opened = [f"#{result.number}" for result in results if result.opened]
    before = [f"#{result.number}" for result in results if not result.opened]
    parts = [f"opened {', '.join(opened)}"] if opened else []
    parts += [f"there already: {', '.join(before)}"] if before else []
    return "; ".join(parts) or "there are no issues to open"
