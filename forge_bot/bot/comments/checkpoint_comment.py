"""The comment with a question.

The first screen shows what is decided, the risks, the cost, and each answer with its effect. The
other facts and the documents follow below.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.reply import RunView, asked_for
from forge_bot.engine.phases import DRAFT
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.interaction import markers
from forge_bot.interaction.check_table import commands, outputs, reasons
from forge_bot.interaction.fit_comment import LIMIT, Paper, Papers, Rows, compose
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.number_format import spent
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.runs.question_text import changed_lines, first_screen
from forge_bot.sentences import say


def checkpoint(view: RunView) -> str:
    """Return the question that is open. Raises ValueError when the view has none."""
    question, gate = view.question, view.state.gate
    if question is None or gate is None:
        raise ValueError("no question is open")
    mark = markers.checkpoint(view.state.run, question.data.gate, gate.round, question.data.digest)
    return compose(
        [
            _first_part(view, question, gate),
            _changed(question),
            *_evidence(view, gate),
            Papers(_documents(view, question)),
            mark,
        ]
    )


def _first_part(view: RunView, question: Question, gate: OpenGate) -> str:
    """Return what is decided, and the line that says yes, ready to be copied, above the other
    answers, each with its effect.
    """
    data, state, commands = question.data, view.state, view.commands
    effects = {choice.answer: choice.effect for choice in question.actions}
    first = next((answer for answer in ("answer", "approve", "done") if answer in effects), "")
    others = [(commands.form(one, gate.digest), effects[one]) for one in effects if one != first]
    if first == "approve" and data.overview.spent:
        others[:0] = _other_approvals(view, question, gate)
    return render(
        "parts.question",
        asked=Markdown(asked_for(view, gate).removesuffix(".")),
        version=gate.round if gate.reason is None else 1,
        title=state.title,
        subject=Markdown(_subject(question, gate)),
        first_screen=Markdown(first_screen(question)),
        by_hand=view.by_hand,
        so_far="" if data.overview.spent else Markdown(spent(state.usage, state.budget)),
        first=first,
        command=commands.form(first, gate.digest),
        effect=effects.get(first, "").partition("; "),
        until=data.overview.until,
        more=commands.raise_budget(state.budget) if gate.reason is Reason.BUDGET else "",
        others=others,
        asking=commands.form("ask") if first == "approve" and commands.asks else "",
        digest=data.digest[:12] if "approve" in gate.options else "",
        files=[escape.code(file.name) for file in gate.files],
        awaited=view.awaited,
        removed=view.removed,
    )


def _subject(question: Question, gate: OpenGate) -> str:
    """Return the decision; empty where the documents below say what it is about."""
    decision = question.data.decision
    if question.data.documents and gate.reason is None and gate.task is None:
        return ""
    place = 2 if gate.reason is not None else 0 if gate.task is not None else 1
    return "".join(map(escape.line, decision[place : place + 1]))


def _other_approvals(view: RunView, question: Question, gate: OpenGate) -> list[tuple[str, str]]:
    """Return the approvals that say more than yes: with another choice, and with a condition."""
    approval = view.commands.form("approve", gate.digest)
    choices = [
        (f"{approval} {decision.number}{option.letter}", say("question.with_choice"))
        for decision in question.data.overview.outline.decisions[:1]
        for option in decision.options
        if option != decision.default
    ]
    words = say("words.your_condition")
    return [*choices[:1], (f"{approval} with <{words}>", say("question.with_condition"))]


# -- what it is about
# --------------------------------------------------------------------------------------------------


def _changed(question: Question) -> Papers:
    """The difference to the version shown before, open, in a third of the comment at most."""
    difference = question.data.difference
    if not difference.strip():
        return Papers(())
    shown = question.data.overview.notes and changed_lines(difference)
    paper = Paper(
        name=say("question.what_changed"), text=difference, language="diff", open=not shown
    )
    return Papers([paper], LIMIT // 3)


def _documents(view: RunView, question: Question) -> list[Paper]:
    return [
        Paper(
            name=document.name,
            about=_caption(view, document.name),
            text=document.text,
            url=view.links.artifact(document.name),
            language="diff" if document.name.endswith(".patch") else "",
            open=(document.name.endswith(".patch") and document.name != DRAFT)
            or (not place and document.is_short and not question.data.overview.outline.approach),
        )
        for place, document in enumerate(question.data.documents)
    ]


def _caption(view: RunView, name: str) -> str:
    """The document in a few words, from the phase that wrote it."""
    if name.startswith("held-"):
        return say("checkpoint.the_change_that_waits")
    if name == DRAFT:
        return say("checkpoint.the_change_itself")
    record = view.state.artifacts.get(name)
    return view.pipeline.caption(record.phase) if record is not None else ""


def _evidence(view: RunView, gate: OpenGate) -> Sequence[str | Papers | Rows]:
    """The parts that this question needs; none for most."""
    match gate.reason:
        case Reason.VERIFICATION_RED if view.state.verification is not None:
            results = view.state.verification.results
            more = tuple(
                reason for reason in view.state.verification.reasons if reason not in gate.subject
            )
            return [commands(results, view.state.baseline), reasons(more), *outputs(results)]
        case Reason.SETUP_FAILED:
            return [commands(view.state.baseline, ()), *outputs(view.state.baseline)]
        case Reason.BASELINE:
            return [commands(view.state.baseline, ())] if view.state.baseline else []
        case None if gate.task is not None:
            return [_criteria(view, gate)]
        case _:
            return []


def _criteria(view: RunView, gate: OpenGate) -> Rows:
    task = view.state.task(gate.task)
    criteria = task.spec.acceptance if task is not None else ()
    return Rows(
        [f"- [ ] {escape.line(criterion)}" for criterion in criteria],
        "checkpoint.and_more",
        before=f"**{say('checkpoint.done_when')}**\n\n",
    )
