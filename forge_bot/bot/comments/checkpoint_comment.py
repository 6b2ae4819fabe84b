"""The comment with a question: what is decided and what could go wrong, how to answer and what each
answer does, then the documents.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.evidence import evidence
from forge_bot.bot.comments.next_step import asked_for
from forge_bot.bot.comments.plan_overview import plan
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.interaction import markers
from forge_bot.interaction.check_table import warnings
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import LIMIT, Flexible, as_many, compose
from forge_bot.interaction.folds import Paper, papers
from forge_bot.interaction.number_format import head, listed, row, several, spent
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, VERDICTS
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.values import Finding, Severity

ASK = "the model answers here; nothing changes"
_SHORT_LINES, _SHORT_CHARACTERS = 40, 2_500
"""A design of at most so much is open; a longer one is folded."""

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
            plan(question.data.overview),
            _risks(question.data.risks),
            _reviewed(question, gate),
            findings(question.data.findings or _findings_shown(view, gate)),
            _cost(view, question),
            _answer(view, question, gate),
            _bound(view, question, gate),
            _changed(question),
            *evidence(view, gate),
            papers(_documents(view, question)),
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
    """Two lines: the subject of the run, and the decision."""
    lines = [f"**{escape.plain(view.state.title)}** · effort {view.state.effort} · {view.branch}"]
    if gate.reason is not None:
        lines += [escape.line(sentence) for sentence in question.data.decision[2:3]]
    elif gate.task is not None:
        lines += [escape.line(sentence) for sentence in question.data.decision[:1]]
    else:
        lines += [escape.line(sentence) for sentence in question.data.decision[1:2]]
    return "  \n".join(lines)


def _reviewed(question: Question, gate: OpenGate) -> str:
    """The verdicts of the reviews, and for which version; edits by hand since."""
    if gate.reason is not None or gate.task is not None:
        return ""
    overview = question.data.overview
    lines = [
        f"✏️ **{escape.code(edit.document)} was changed by hand** by {escape.plain(edit.by)}"
        f" ({edit.at:%Y-%m-%d %H:%M} UTC)."
        for edit in overview.edits
    ]
    said = [
        f"**{VERDICTS[review.verdict]}**"
        + (f", with {several(review.findings, 'finding')}" if review.findings else "")
        + (
            ", for the version **before** the change by hand"
            if review.earlier_version
            else ", for this version"
        )
        for review in overview.reviews
    ]
    lines.append(
        f"**Review**: {listed(said)}."
        if said
        else "**Review**: none at this effort; you are the first to look at it."
    )
    return "  \n".join(lines)


def _cost(view: RunView, question: Question) -> str:
    overview = question.data.overview
    if not overview.spent:
        so_far = spent(view.state.usage, view.state.budget)
        return f"<sub>{so_far} so far · waiting costs nothing</sub>"
    to_go = f" · probably {escape.plain(overview.to_go)} to go" if overview.to_go else ""
    return f"**Cost**: {escape.plain(overview.spent)}{to_go} · waiting costs nothing"


def _findings_shown(view: RunView, gate: OpenGate) -> tuple[Finding, ...]:
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
    if first == "approve":
        lines.append(row(escape.code_cell(f"{view.commands.say('ask')} <your question>"), ASK))
    others = head("Or answer" if first else "Answer", "What happens") + "\n".join(lines)
    if not first:
        return others
    effect, _, besides = effects[first].partition("; ")
    beside = f" ({escape.line(besides)})" if besides else ""
    when = "When it is done" if first == "done" else f"To {escape.line(effect)}{beside}"
    said = f"**{when}, answer with this line:**\n\n```text\n{_said(view, first, gate)}\n```"
    then = " → ".join(escape.plain(label) for label in question.data.overview.then)
    return "\n\n".join([said, *([f"<sub>Then: {then}.</sub>"] if then else []), others])


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
            open=document.name.endswith(".patch") or (not place and _is_short(document.text)),
        )
        for place, document in enumerate(question.data.documents)
    ]


def _is_short(text: str) -> bool:
    return len(text) <= _SHORT_CHARACTERS and text.count("\n") <= _SHORT_LINES


def _caption(view: RunView, name: str) -> str:
    """The document in a few words, from the phase that wrote it."""
    if name.startswith("held-"):
        return "the change that waits"
    record = view.state.artifacts.get(name)
    return view.pipeline.caption(record.phase) if record is not None else ""
