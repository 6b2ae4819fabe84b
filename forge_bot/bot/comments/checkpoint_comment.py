"""The comment with a question.

The first screen shows what is decided, the risks, the cost, and each answer with its effect. The
other facts and the documents follow below.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.next_step import asked_for
from forge_bot.bot.comments.plan_overview import plan
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.interaction import markers
from forge_bot.interaction.check_table import commands, outputs, reasons, warnings
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import LIMIT, LinesPart, Paper, PapersPart, Part, compose
from forge_bot.interaction.folded_sections import alert
from forge_bot.interaction.number_format import money, spent, tokens_of_cap
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, verdict_words
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.runs.question_overview import LONGEST_LINE, MOST_FINDINGS, MOST_RISKS
from forge_bot.sentences import listed, say
from forge_bot.text_format import code_block, right_to_left
from forge_bot.values import Finding, Severity

_WEIGHTS = {Severity.CRITICAL: "🟥", Severity.MAJOR: "🟧", Severity.MINOR: "🟨"}


def checkpoint(view: RunView, limit: int = LIMIT) -> str:
    """The question that is open. Raises ValueError when the view has none."""
    question, gate = view.question, view.state.gate
    if question is None or gate is None:
        raise ValueError("no question is open")
    found = _heaviest_first(question.data.findings or _findings_shown(view, gate))
    short_plan = gate.reason is None and gate.task is None
    return compose(
        [
            _heading(view, gate),
            _decision(view, question, gate),
            plan(question.data.overview),
            *(_in_short(view, question, found) if short_plan else _in_full(question, found)),
            _pushed_by_hand(view),
            "" if short_plan else _cost(view, question),
            _answer(view, question, gate),
            _bound(view, question, gate),
            *(_left_out(question, found) if short_plan else []),
            _changed(question),
            *_evidence(view, gate),
            PapersPart(_documents(view, question)),
            markers.checkpoint(
                view.state.run, question.data.gate, gate.round, question.data.digest
            ),
        ],
        limit,
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


def _reviewed(question: Question) -> str:
    """The verdicts of the reviews, and for which version; edits by hand since."""
    overview = question.data.overview
    lines = [
        "- "
        + say(
            "checkpoint.changed_by_hand_see_below"
            if question.data.difference
            else "checkpoint.changed_by_hand",
            document=escape.code(edit.document),
            by=escape.plain(edit.by),
            at=edit.at,
        )
        for edit in overview.edits
    ]
    said = [
        say(
            "checkpoint.verdict_before_the_change"
            if review.earlier_version
            else "checkpoint.verdict_for_this_version",
            verdict=verdict_words(review.verdict),
        )
        + (
            say("question.findings_left_as_they_are", count=review.findings)
            if review.findings
            else ""
        )
        for review in overview.reviews
    ]
    review = (
        say("checkpoint.review_by_a_model", said=listed(said))
        if said
        else say("checkpoint.no_review")
    )
    return "\n".join([*lines, f"- {review}"])


def _cost(view: RunView, question: Question) -> str:
    overview = question.data.overview
    if not overview.spent:
        so_far = spent(view.state.usage, view.state.budget)
        return f"<sub>{say('checkpoint.cost_so_far', so_far=so_far)}</sub>"
    cost = say("checkpoint.cost", spent=escape.plain(overview.spent))
    if not overview.to_go:
        return cost
    return cost + say("question.probably_more", to_go=escape.plain(overview.to_go))


def _findings_shown(view: RunView, gate: OpenGate) -> tuple[Finding, ...]:
    """Return the findings of the reviews that are shown."""
    records = [
        view.state.artifacts[file.name] for file in gate.files if file.name in view.state.artifacts
    ]
    return tuple(finding for record in records for finding in record.findings)


def _in_short(view: RunView, question: Question, found: Sequence[Finding]) -> list[Part]:
    """Return first risks, verdict, heaviest findings and cost, each on a line or two."""
    risks = [escape.line(risk, LONGEST_LINE) for risk in question.data.all_risks[:MOST_RISKS]]
    shown = [_finding(finding, LONGEST_LINE) for finding in found[:MOST_FINDINGS]]
    more = [f"- _{say('checkpoint.all_of_it_below')}_"] if _left_out(question, found) else []
    return [
        alert("warning", "\n".join(f"- {risk}" for risk in risks)) if risks else "",
        "\n".join([_reviewed(question), *shown, *more, f"- {_cost(view, question)}"]),
    ]


def _in_full(
    question: Question, found: Sequence[Finding], headline: str = "checks.look_at_this_first"
) -> list[Part]:
    risks = [escape.line(each) for each in question.data.all_risks]
    return [warnings(risks, headline), findings(found)]


def _left_out(question: Question, found: Sequence[Finding]) -> list[Part]:
    """Return all risks and findings, where the first screen has not all of their words."""
    risks = question.data.all_risks
    words = [*risks, *(finding.description for finding in found)]
    if (
        len(risks) <= MOST_RISKS
        and len(found) <= MOST_FINDINGS
        and all(len(each) <= LONGEST_LINE for each in words)
    ):
        return []
    return _in_full(question, found, "checkpoint.risks_in_full")


def _heaviest_first(found: Sequence[Finding]) -> list[Finding]:
    return sorted(found, key=lambda finding: HEAVIEST_FIRST.index(finding.severity))


def _finding(finding: Finding, longest: int = 600) -> str:
    return (
        f"- {_WEIGHTS[finding.severity]} **{finding.severity}**"
        f" {escape.line(finding.description, longest)}"
    )


def findings(found: Sequence[Finding]) -> LinesPart:
    """Return the open findings, the most severe first."""
    return LinesPart(
        [_finding(each) for each in _heaviest_first(found)],
        "checkpoint.more_findings",
        before=f"**{say('checkpoint.open_findings')}**\n\n",
    )


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


def _changed(question: Question) -> PapersPart:
    """The difference to the version shown before, open, in a third of the comment at most."""
    difference = question.data.difference
    if not difference.strip():
        return PapersPart(())
    paper = Paper(name=say("question.what_changed"), text=difference, language="diff", open=True)
    return PapersPart([paper], LIMIT // 3)


def _documents(view: RunView, question: Question) -> list[Paper]:
    return [
        Paper(
            name=document.name,
            about=_caption(view, document.name),
            text=document.text,
            url=view.links.artifact(document.name),
            language="diff" if document.name.endswith(".patch") else "",
            open=document.name.endswith(".patch") or (not place and document.is_short),
        )
        for place, document in enumerate(question.data.documents)
    ]


def _caption(view: RunView, name: str) -> str:
    """The document in a few words, from the phase that wrote it."""
    if name.startswith("held-"):
        return say("checkpoint.the_change_that_waits")
    record = view.state.artifacts.get(name)
    return view.pipeline.caption(record.phase) if record is not None else ""


def _evidence(view: RunView, gate: OpenGate) -> list[Part]:
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


def _criteria(view: RunView, gate: OpenGate) -> LinesPart:
    task = view.state.task(gate.task)
    criteria = task.spec.acceptance if task is not None else ()
    return LinesPart(
        [f"- [ ] {escape.line(each)}" for each in criteria],
        "checkpoint.and_more",
        before=f"**{say('checkpoint.done_when')}**\n\n",
        most=6_000,
    )
