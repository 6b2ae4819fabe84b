"""The comment with a question: what is decided and what could go wrong, how to answer and what each
answer does, then the documents.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.evidence import evidence
from forge_bot.bot.comments.next_step import asked_for
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.interaction import markers
from forge_bot.interaction.command_table import warnings
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import LIMIT, Flexible, as_many, compose
from forge_bot.interaction.folds import Paper, papers
from forge_bot.interaction.number_format import head, listed, row, several, spent
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, VERDICTS
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.values import Finding, Severity

_WEIGHTS = {Severity.CRITICAL: "🟥", Severity.MAJOR: "🟧", Severity.MINOR: "🟨"}


def checkpoint(view: RunView, limit: int = LIMIT) -> str:
    """The question that is open. Raises ValueError when the view has none."""
    question, gate = view.question, view.state.gate
    if question is None or gate is None:
        raise ValueError("no question is open")
    return compose(
        [
            _heading(view, gate),
            _decision(view, question, gate),
            _risks(question.data.risks),
            findings(question.data.findings or _reviewed(view, gate)),
            _answer(view, question, gate),
            _bound(view, question, gate),
            _changed(question),
            *evidence(view, gate),
            papers(_documents(view, question)),
            (
                f"<sub>{spent(view.state.usage, view.state.budget)} so far · waiting costs"
                " nothing</sub>"
            ),
            markers.checkpoint(
                view.state.run, question.data.gate, gate.round, question.data.digest
            ),
        ],
        limit,
    )


def _heading(view: RunView, gate: OpenGate) -> str:
    again = f" · version {gate.round}" if gate.round > 1 and gate.reason is None else ""
    return f"### ✋ {asked_for(view, gate).removesuffix('.')}{again}"


def _decision(view: RunView, question: Question, gate: OpenGate) -> str:
    """Three lines: what the run is about, what is to be decided, what is known of it."""
    lines = [f"**{escape.plain(view.state.title)}** · effort {view.state.effort} · {view.branch}"]
    if gate.reason is not None:
        lines += [escape.line(sentence) for sentence in question.data.decision[2:3]]
    elif gate.task is not None:
        lines += [escape.line(sentence) for sentence in question.data.decision[:1]]
    else:
        lines += [
            *(escape.line(sentence) for sentence in question.data.decision[1:2]),
            _reviewers(view, gate),
        ]
    return "  \n".join(lines)


def _reviewers(view: RunView, gate: OpenGate) -> str:
    records = [
        (file.name, view.state.artifacts[file.name])
        for file in gate.files
        if file.name in view.state.artifacts
    ]
    said = [
        (
            f"**{VERDICTS[record.verdict]}**, with {several(len(record.findings), 'finding')}"
            if record.findings
            else f"**{VERDICTS[record.verdict]}**"
        )
        for _, record in records
        if record.verdict is not None
    ]
    return (
        f"The reviewer's verdict: {listed(said)}."
        if said
        else "No reviewer has looked at it; at this effort you are the first."
    )


def _reviewed(view: RunView, gate: OpenGate) -> tuple[Finding, ...]:
    """Return the findings of the reviews that are shown."""
    records = [
        view.state.artifacts[file.name] for file in gate.files if file.name in view.state.artifacts
    ]
    return tuple(finding for record in records for finding in record.findings)


def _risks(risks: Sequence[str]) -> Flexible:
    return warnings([*dict.fromkeys(risks)], escape.line)


def findings(found: Sequence[Finding]) -> Flexible:
    """Return the open findings, the most severe first."""
    ordered = sorted(found, key=lambda finding: HEAVIEST_FIRST.index(finding.severity))
    return as_many(
        ordered,
        lambda finding: (
            f"- {_WEIGHTS[finding.severity]} **{finding.severity}**"
            f" {escape.line(finding.description)}"
        ),
        lambda count: f"_{several(count, 'more finding')} stand in the documents._",
        before="**Open findings**\n\n",
    )


# -- answering
# --------------------------------------------------------------------------------------------------


def _answer(view: RunView, question: Question, gate: OpenGate) -> str:
    """The line that says yes, ready to be copied; below it the other answers. Each with what it
    does.
    """
    effects = {choice.answer: choice.effect for choice in question.actions}
    first = next((answer for answer in ("approve", "done") if answer in effects), "")
    lines = [
        row(escape.code_cell(_said(view, answer, gate)), escape.cell(effect))
        for answer, effect in effects.items()
        if answer != first
    ]
    if gate.reason is Reason.BUDGET:
        lines.insert(
            0, row(escape.code_cell(view.commands.form("continue")), "allow so much more and go on")
        )
    others = head("Or answer" if first else "Answer", "What happens") + "\n".join(lines)
    if not first:
        return others
    effect, _, besides = effects[first].partition("; ")
    beside = f" ({escape.line(besides)})" if besides else ""
    when = "When it is done" if first == "done" else f"To {escape.line(effect)}{beside}"
    return (
        f"**{when}, answer with this"
        f" line:**\n\n```text\n{_said(view, first, gate)}\n```\n\n{others}"
    )


def _said(view: RunView, answer: str, gate: OpenGate) -> str:
    match answer:
        case "approve":
            return view.commands.say("approve", short(gate.digest))
        case "reject":
            return view.commands.form("reject")
        case _:
            return view.commands.say(answer)


def _bound(view: RunView, question: Question, gate: OpenGate) -> str:
    removed = f"🧹 {escape.line(view.removed)}" if view.removed else ""
    if not question.data.digest or "approve" not in gate.options:
        return removed
    parts = listed(
        ["the request", "the base commit", *(escape.code(file.name) for file in gate.files)]
    )
    bound = (
        f"This is version {escape.code(question.data.digest[:12])}: {parts}, byte for byte. "
        "A yes counts for this version only; if anything changes, I ask again."
    )
    return f"{bound}  \n{removed}" if removed else bound


# -- what it is about
# --------------------------------------------------------------------------------------------------


def _changed(question: Question) -> Flexible:
    """The difference to the version shown before, open, in a third of the comment at most."""
    difference = question.data.difference
    if not difference.strip():
        return lambda _room: ""
    paper = Paper(
        name="What changed since the version shown before",
        text=difference,
        language="diff",
        open=True,
    )
    return lambda room: papers([paper])(min(room, LIMIT // 3))


def _documents(view: RunView, question: Question) -> list[Paper]:
    return [
        Paper(
            name=document.name,
            about=_caption(view, document.name),
            text=document.text,
            url=view.links.artifact(document.name),
            language="diff" if document.name.endswith(".patch") else "",
            open=document.name.endswith(".patch"),
        )
        for document in question.data.documents
    ]


def _caption(view: RunView, name: str) -> str:
    """The document in a few words, from the phase that wrote it."""
    if name.startswith("held-"):
        return "the change that waits"
    record = view.state.artifacts.get(name)
    return view.pipeline.caption(record.phase) if record is not None else ""
