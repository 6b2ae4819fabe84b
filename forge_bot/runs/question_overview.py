"""The overview of a question: the parts of the documents that a person reads first."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from forge_bot.agent.assignment import HEADING
from forge_bot.artifacts.design_outline import DesignOutline, read_outline
from forge_bot.artifacts.markdown import read_section
from forge_bot.artifacts.read_artifact import first_sentence, read_requirements
from forge_bot.engine import Checkpoint
from forge_bot.engine.drafts import open_findings
from forge_bot.engine.phase_rows import rows
from forge_bot.engine.phases import DRAFT, AgentPhase, GatePhase, PublishPhase
from forge_bot.engine.reports import ArtifactChanged, ArtifactWritten
from forge_bot.engine.state import State
from forge_bot.runs.run import Run
from forge_bot.sentences import listed, say
from forge_bot.text_format import money
from forge_bot.values import Frozen, PhaseId, Verdict, unless_empty

_LONG_COMMAND = re.compile(r"`([^`]{10,40}) [^`]{12,}`")
_IS_TRIED = re.compile(r"^- (?:Nothing is newly red|Still newly red|`[^`]+`: )")


class HandEdit(Frozen):
    """A change that somebody made by hand to a document after it was written."""

    document: str
    by: str
    at: datetime


class ReviewOutcome(Frozen):
    """The verdict of a review, and whether it read the versions that are shown now."""

    document: str
    verdict: Verdict
    findings: int
    corrected: int = 0
    checked: str = unless_empty("", "the reviewer's sentence below the verdict")
    earlier_version: bool = False


class Overview(Frozen):
    """The parts of a question that fit on one screen. Money and times are in plain words.

    `notes` are what a person said about the version before.
    """

    outline: DesignOutline = DesignOutline()
    notes: str = ""
    reviews: tuple[ReviewOutcome, ...] = ()
    edits: tuple[HandEdit, ...] = ()
    drafted: str = unless_empty("", "how many lines the drafted change adds and removes")
    tested: str = unless_empty("", "of how many requirements the review names tests")
    tried: tuple[str, ...] = unless_empty((), "what the project's commands said of the draft")
    until: str = ""
    spent: str = ""

    @property
    def counted(self) -> str:
        """Say how many files will change, and how many of them are tests."""
        files = self.outline.files
        tests = sum(file.is_test for file in files)
        counted = say("question.files", count=len(files))
        counted += say("question.of_them_tests", tests=tests) if tests else ""
        return counted + self.drafted


def overview(run: Run, asked: Checkpoint) -> Overview:
    """Return the overview of a checkpoint of a run that shows documents for approval."""
    names = [file.name for file in asked.files]
    edits = _hand_edits(run, names)
    return Overview(
        outline=_outline(run, names),
        notes=_notes(run.state, asked),
        reviews=_reviews(run, names, edits),
        edits=edits,
        drafted=_count_lines(run.workspace.read(DRAFT)) if DRAFT in names else "",
        tested=_count_tested(run.workspace.read(name) for name in names if name.endswith(".md")),
        tried=_tried(run, names),
        until=_until(run, asked.name),
        spent=_spent(run.state),
    )


def _count_tested(texts: Iterable[str]) -> str:
    """Return of how many requirements reviews name tests, and the first ones without."""
    rows = [row for text in texts for row in read_requirements(text)]
    code = [row for row in rows if row.tests or not row.only_pages]
    bare = [f"“{row.text}”" for row in code if not (row.tests or row.by_present_tests)]
    counts = say("question.tested", tested=len(code) - len(bare), count=len(rows)) if code else ""
    pages = len(rows) - len(code)
    counts += say("question.pages", count=pages) if code and pages else ""
    return counts + (say("question.not_tested", names=listed(bare[:3])) if bare else "")


def _count_lines(patch: str) -> str:
    """Return how many lines a patch adds and removes, as the rest of a sentence."""
    lines = [line for line in patch.splitlines() if not line.startswith(("+++", "---"))]
    counts = {sign: sum(line.startswith(sign) for line in lines) for sign in "+-"}
    return say("question.drafted", name=DRAFT, added=counts["+"], removed=counts["-"])


def _tried(run: Run, names: Sequence[str]) -> tuple[str, ...]:
    """Return what the newest document with a try of the draft says of the project's commands."""
    documents = [name for name in names if DRAFT in names and name.endswith(".md")]
    texts = map(run.workspace.read, documents)
    sections = [section for text in texts if (section := read_section(text, HEADING))]
    lines = sections[-1].splitlines() if sections else []
    tried = [line[2:] for line in lines if line.startswith("- ") and _IS_TRIED.search(line)]
    others = [line for line in tried if not line.endswith(": exit code 0.")]
    if (green := len(tried) - len(others)) > 1:
        tried = [*others, say("question.other_commands", count=green)]
    return tuple(_LONG_COMMAND.sub(r"`\1 …`", line) for line in tried)


def _hand_edits(run: Run, names: Sequence[str]) -> tuple[HandEdit, ...]:
    """Return the edits of these documents since each was last written by its agent."""
    edits: dict[str, HandEdit] = {}
    for report in run.workspace.reports():
        if isinstance(report, ArtifactWritten):
            edits.pop(report.artifact, None)
        elif isinstance(report, ArtifactChanged) and report.artifact in names:
            by = report.by or say("question.somebody")
            edits[report.artifact] = HandEdit(document=report.artifact, by=by, at=report.at)
    return tuple(edits.values())


def _outline(run: Run, names: Sequence[str]) -> DesignOutline:
    """Return the outline of the shown document whose phase reports risks: the design."""
    for phase in run.pipeline.phases:
        if isinstance(phase, AgentPhase) and phase.shows_risks and phase.writes in names:
            return read_outline(run.workspace.read(phase.writes))
    return DesignOutline()


def _notes(state: State, asked: Checkpoint) -> str:
    """Return the words with which this gate sent the version before back; empty if it did not."""
    answers = [
        decision
        for decision in state.decisions
        if decision.gate == asked.name and decision.reason is None
    ]
    return answers[-1].notes if answers and answers[-1].answer == "reject" else ""


def _reviews(
    run: Run, names: Sequence[str], edits: Sequence[HandEdit]
) -> tuple[ReviewOutcome, ...]:
    reports = run.workspace.reports()
    written = {one.artifact: one.at for one in reports if isinstance(one, ArtifactWritten)}
    return tuple(
        ReviewOutcome(
            document=name,
            verdict=record.verdict,
            findings=len(open_findings(run.state, record)),
            corrected=len(record.findings) - len(open_findings(run.state, record)),
            checked=first_sentence(run.workspace.read(name)),
            earlier_version=any(
                edit.document != name and name in written and edit.at > written[name]
                for edit in edits
            ),
        )
        for name in names
        if (record := run.state.artifacts.get(name)) is not None and record.verdict is not None
    )


def _until(run: Run, gate: PhaseId) -> str:
    """Return where a run stops or shows itself next after a gate: at another gate, or with its pull
    request.
    """
    after = False
    for row in rows(run.pipeline, run.state):
        phase = run.pipeline.phase(row.phase)
        if after and row.standing == "open":
            if isinstance(phase, PublishPhase) and phase.operation == "pull-request":
                return say("question.pull_request_is_open")
            if isinstance(phase, GatePhase | PublishPhase):
                return f"“{row.label}”"
        after = after or row.phase == gate
    return ""


def _spent(state: State) -> str:
    usage, cap = state.usage, state.budget.cap
    used = money(usage.cost) if usage.cost is not None else say("words.tokens", tokens=usage.tokens)
    tokens = state.budget.token_cap
    caps = [money(cap)] if cap is not None else []
    caps += [say("words.tokens", tokens=tokens)] if tokens is not None else []
    return used + (say("question.of_a_budget", budget=listed(caps)) if caps else "")
