"""The comment with a question.

The first screen shows what is decided, the risks, the cost, and each answer with its effect. The
other facts and the documents follow below.
"""

from forge_bot.bot.comments.next_step import asked_for
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.interaction import markers
from forge_bot.interaction.check_table import commands, outputs, reasons
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import LIMIT, Paper, Papers, compose, limited
from forge_bot.interaction.number_format import money, spent, tokens_of_cap
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.runs.question_text import changed_lines, first_screen
from forge_bot.sentences import listed, say
from forge_bot.text_format import code_block, right_to_left


def checkpoint(view: RunView) -> str:
    """The question that is open. Raises ValueError when the view has none."""
    question, gate = view.question, view.state.gate
    if question is None or gate is None:
        raise ValueError("no question is open")
    return compose(
        [
            _heading(view, gate),
            _decision(view, question, gate),
            first_screen(question),
            _pushed_by_hand(view),
            _cost(view, question),
            _answer(view, question, gate),
            _bound(view, question, gate),
            _changed(question),
            *_evidence(view, gate),
            Papers(_documents(view, question)),
            markers.checkpoint(
                view.state.run, question.data.gate, gate.round, question.data.digest
            ),
        ]
    )


def _pushed_by_hand(view: RunView) -> str:
    """Say what a yes to workflow files leads to, where the token cannot push them."""
    files = listed([escape.code(path) for path in view.by_hand[:5]])
    return say("checkpoint.pushed_by_hand", files=files) if files else ""


def _heading(view: RunView, gate: OpenGate) -> str:
    again = (
        say("checkpoint.version", round=gate.round)
        if gate.round > 1 and gate.reason is None
        else ""
    )
    return f"### ✋ {asked_for(view, gate).removesuffix('.')}{again}"


def _decision(view: RunView, question: Question, gate: OpenGate) -> str:
    """Two lines: the subject of the run, and the decision or where all of the text is."""
    lines = [f"**{escape.plain(view.state.title)}**"]
    if gate.reason is not None:
        lines += [escape.line(each) for each in question.data.decision[2:3]]
    elif gate.task is not None:
        lines += [escape.line(each) for each in question.data.decision[:1]]
    elif question.data.documents:
        names = (document.name for document in question.data.documents)
        texts = listed([view.links.named(name) for name in names])
        lines.append(say("checkpoint.where_all_of_it_is", effort=view.state.effort, texts=texts))
    else:
        lines += [escape.line(each) for each in question.data.decision[1:2]]
    # GitHub sets a whole paragraph from right to left where its first letter is written so.
    return ("\n\n" if right_to_left(view.state.title) else "  \n").join(lines)


def _cost(view: RunView, question: Question) -> str:
    """Return the cost so far, where the first screen does not say it."""
    if question.data.overview.spent:
        return ""
    so_far = spent(view.state.usage, view.state.budget)
    return f"<sub>{say('checkpoint.cost_so_far', so_far=so_far)}</sub>"


# -- answering
# --------------------------------------------------------------------------------------------------


def _answer(view: RunView, question: Question, gate: OpenGate) -> str:
    """The line that says yes, ready to be copied, above the other answers, each with its effect."""
    effects = {choice.answer: choice.effect for choice in question.actions}
    first = next((answer for answer in ("approve", "done") if answer in effects), "")
    lines = [
        f"- {escape.code(_said(view, answer, gate))}: {escape.line(effect)}"
        for answer, effect in effects.items()
        if answer != first
    ]
    if gate.reason is Reason.BUDGET:
        more = view.commands.raise_budget(view.state.budget)
        lines.insert(0, f"- {escape.code(more)}: {say('checkpoint.allow_so_much_more')}")
    if first == "approve" and view.commands.asks:
        asking = view.commands.form("ask")
        lines.insert(-1, f"- {escape.code(asking)}: {say('checkpoint.the_model_answers')}")
    others = "\n".join(lines if first else [f"**{say('checkpoint.answer')}**:", "", *lines])
    if not first:
        return others
    effect, _, besides = effects[first].partition("; ")
    beside = f" ({escape.line(besides)})" if besides else ""
    last = escape.plain(question.data.overview.until)
    until = say("checkpoint.until", last=last) if last else ""
    how = (
        say("checkpoint.answer_when_done", until=until)
        if first == "done"
        else say("checkpoint.answer_to", effect=f"{escape.line(effect)}{beside}", until=until)
    )
    return f"{how}\n\n{code_block(_said(view, first, gate))}\n\n{others}"


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
        [
            say("checkpoint.the_request"),
            say("checkpoint.the_base_commit"),
            *(escape.code(file.name) for file in gate.files),
        ]
    )
    digest = escape.code(question.data.digest[:12])
    bound = say("checkpoint.bound_to_version", digest=digest, parts=parts)
    return f"{bound}  \n{removed}" if removed else bound


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
            open=document.name.endswith(".patch")
            or (not place and document.is_short and not question.data.overview.outline.approach),
        )
        for place, document in enumerate(question.data.documents)
    ]


def _caption(view: RunView, name: str) -> str:
    """The document in a few words, from the phase that wrote it."""
    if name.startswith("held-"):
        return say("checkpoint.the_change_that_waits")
    record = view.state.artifacts.get(name)
    return view.pipeline.caption(record.phase) if record is not None else ""


def _evidence(view: RunView, gate: OpenGate) -> list[str | Papers]:
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
        case Reason.BUDGET:
            return [_money(view)]
        case None if gate.task is not None:
            return [_criteria(view, gate)]
        case _:
            return []


def _money(view: RunView) -> str:
    budget = view.state.budget
    spent = money(budget.spent)
    if budget.cap is not None:
        spent += say("checkpoint.spent_of_cap", cap=money(budget.cap))
    if budget.token_cap is not None:
        spent += say("checkpoint.spent_and_tokens", tokens=tokens_of_cap(budget))
    return say("checkpoint.spent", spent=spent, count=view.state.usage.calls)


def _criteria(view: RunView, gate: OpenGate) -> str:
    task = view.state.task(gate.task)
    criteria = task.spec.acceptance if task is not None else ()
    return limited(
        [f"- [ ] {escape.line(criterion)}" for criterion in criteria],
        "checkpoint.and_more",
        before=f"**{say('checkpoint.done_when')}**\n\n",
    )
