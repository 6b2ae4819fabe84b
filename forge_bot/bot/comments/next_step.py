"""The first thing in every comment: what is going on, and whether somebody has to do something."""

from forge_bot.bot.comments.reply import CommentReply
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.budget import Budget
from forge_bot.engine.phases import GatePhase, PublishPhase, TaskReviewPhase, TasksPhase
from forge_bot.engine.process_documents import UNNEEDED
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.number_format import money
from forge_bot.prompts import escape
from forge_bot.runs.outcome import Outcome
from forge_bot.values import NothingToDo, RunStatus
from forge_bot.wording import several


def next_move(view: RunView) -> CommentReply:
    """Return the next step: the end, else a problem, else a question, else the work under
    way.
    """
    match view.state.current_phase_status:
        case RunStatus.COMPLETED:
            return _completed(view)
        case RunStatus.ABANDONED:
            return _abandoned(view)
        case RunStatus.IN_PROGRESS | RunStatus.AWAITING_HUMAN:
            if view.trouble is not None:
                return _in_trouble(view, view.trouble)
            return _asked(view, view.state.gate) if view.state.gate is not None else _working(view)


def _in_trouble(view: RunView, trouble: CommentReply) -> CommentReply:
    """Return the problem, followed by the question that is still open."""
    if view.state.gate is None:
        return trouble
    asked = _asked(view, view.state.gate)
    return trouble.model_copy(
        update={"detail": f"{trouble.detail}\n\n**{asked.headline}** {asked.detail}"}
    )


def pull_request_link(view: RunView, *, begins: bool = True) -> str:
    """The pull request as a link that names its number, where the address has one; `begins` a
    sentence or a cell.
    """
    address = view.state.pull_request
    number = address.rstrip("/").rpartition("/")[2]
    named = f"Pull request {number}" if number.isdigit() else "The pull request"
    return f"[{named if begins else named[0].lower() + named[1:]}]({address})"


def _completed(view: RunView) -> CommentReply:
    state = view.state
    if state.nothing_to_do is not None:
        return _unneeded(view, state.nothing_to_do)
    red = state.verification is not None and state.verification.red
    caution = (
        " **The verification is red** and was accepted by a person; the pull request says so."
        if red
        else ""
    )
    if state.verification is not None and state.verification.requirements is not None:
        caution += "".join(f" {escape.line(each)}" for each in state.verification.requirements.said)
    if state.pull_request:
        detail = (
            f"{pull_request_link(view)} has the change, its checks and who decided what. Merging is"
            f" up to you.{caution}"
        )
    else:
        compare = view.links.compare(state.base_branch, view.offered)
        detail = (
            f"The work is on {escape.code(view.offered)}; [look at the change and open a pull"
            f" request]({compare}).{caution}"
        )
    tone = "warning" if red else "tip"
    return CommentReply(
        occasion="completed",
        headline="Done.",
        detail=detail,
        tone=tone,
        reaction="rocket",
        outcome=Outcome.DONE,
    )


def _unneeded(view: RunView, found: NothingToDo) -> CommentReply:
    """Return the end of a run that changed nothing, with its evidence."""
    summary = view.links.named(view.pipeline.summary) if view.pipeline.summary else ""
    told = f" {summary} has it as a document." if summary else ""
    detail = (
        f"{UNNEEDED[found.why]}\n\n{escape.document(found.evidence).text}\n\n"
        f"Nothing was changed, and there is no pull request.{told} Thank you for the request."
    )
    return CommentReply(
        occasion="completed",
        headline="Done: there is nothing to do.",
        detail=detail,
        tone="tip",
        reaction="rocket",
        outcome=Outcome.DONE,
    )


def _abandoned(view: RunView) -> CommentReply:
    last = view.state.decisions[-1] if view.state.decisions else None
    by = f" by {escape.code(last.by)}" if last is not None and last.answer == "abandon" else ""
    detail = (
        f"Nothing is lost: {view.branch} keeps the documents and the work so far. A new run starts"
        " with the label or a new command."
    )
    return CommentReply(
        occasion="abandoned",
        headline=f"⏹️ Cancelled{by}.",
        detail=detail,
        outcome=Outcome.ABANDONED,
    )


# -- a question
# --------------------------------------------------------------------------------------------------


def _asked(view: RunView, gate: OpenGate) -> CommentReply:
    if "post" in gate.options:
        return CommentReply(
            occasion="waiting",
            headline="All but done.",
            detail=(
                "At a terminal or in a client it was asked whether to post the summary here. The"
                " result is said in this thread anyway, so I go on without an answer."
            ),
        )
    outcome = Outcome.BUDGET if gate.reason is Reason.BUDGET else Outcome.WAITING
    tone = "warning" if gate.reason is not None else "important"
    begin = asked_for(view, gate)
    return CommentReply(
        occasion="waiting",
        headline=f"Your turn: {begin[:1].lower()}{begin[1:]}",
        detail=_how_to_answer(view, gate),
        tone=tone,
        outcome=outcome,
    )


def asked_for(view: RunView, gate: OpenGate) -> str:
    """Return the request to a person, in one sentence."""
    if "done" in gate.options:
        return "Please do what only a person can do."
    phase = view.pipeline.phase(gate.name)
    if isinstance(phase, GatePhase):
        names = [file.name for file in gate.files] or list(phase.shows)
        return f"Please read {escape.code(names[0])} and decide."
    said = (
        view.question.data.decision[1]
        if view.question is not None and len(view.question.data.decision) > 1
        else ""
    )
    return escape.line(said) if said else "A decision is needed before I can go on."


def _how_to_answer(view: RunView, gate: OpenGate) -> str:
    say = view.commands.say
    words = f"{escape.line(gate.subject)}\n\n" if gate.subject else ""
    where = (
        f"[The question]({view.links.question}) has everything to decide on. "
        if view.links.question
        else ""
    )
    if "done" in gate.options:
        return f"{words}{where}Then answer `{say('done')}`, or `{say('skip')}` to go on without it."
    answers = {
        "approve": f"`{say('approve', short(gate.digest))}` to go on",
        "reject": f"`{say('reject')} …` to have it done again",
    }
    offered = [answers[option] for option in gate.options if option in answers]
    if gate.reason is Reason.BUDGET:
        offered.append(f"`{view.commands.raise_budget(view.state.budget)}` to allow so much more")
    return (
        f"{words}{where}Answer {', or '.join(offered)}. I wait as long as it takes; waiting costs"
        " nothing."
    )


# -- the work
# --------------------------------------------------------------------------------------------------


def _nearly_spent(budget: Budget) -> str:
    """Return the rest of a budget that is used up to four fifths."""
    if budget.cap is not None and budget.spent * 5 > budget.cap * 4:
        return money(budget.cap - budget.spent)
    if budget.token_cap is not None and budget.tokens * 5 > budget.token_cap * 4:
        return f"{max(0, budget.token_cap - budget.tokens):,} tokens"
    return ""


def _working(view: RunView) -> CommentReply:
    state = view.state
    phase = view.pipeline.phase(state.current_phase)
    detail = "Nothing is needed from you now; I will ask here when it is."
    if isinstance(phase, TasksPhase | TaskReviewPhase) and state.tasks:
        settled = sum(task.settled for task in state.tasks)
        detail = f"{settled:,} of {several(len(state.tasks), 'task')} settled. {detail}"
    if isinstance(phase, PublishPhase):
        detail = "The work is done and is being delivered."
    if left := _nearly_spent(state.budget):
        detail += f" {left} of the budget are left; if they do not suffice, I will stop and ask."
    return CommentReply(
        occasion="working",
        headline=f"{view.label(phase.id)} is under way.",
        detail=detail,
        reaction="eyes",
    )
