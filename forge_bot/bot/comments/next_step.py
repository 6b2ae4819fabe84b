"""The first part of every comment: the state of the run, and whether somebody has to act."""

from forge_bot.bot.comments.reply import CommentReply, reply, reply_of
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.budget import Budget
from forge_bot.engine.phases import GatePhase, PublishPhase, TaskReviewPhase, TasksPhase
from forge_bot.engine.process_documents import UNNEEDED
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.github_api.types import PullState
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.number_format import money
from forge_bot.prompts import escape
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import say
from forge_bot.values import NothingToDo, RunStatus


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
    return trouble.replace(detail=f"{trouble.detail}\n\n**{asked.headline}** {asked.detail}")


def pull_request_link(view: RunView) -> str:
    """Return the pull request, at the beginning of a sentence or cell, as a link with its number if
    the address has one.
    """
    address = view.state.pull_request
    number = address.rstrip("/").rpartition("/")[2]
    if number.isdigit():
        return f"[{say('words.pull_request_begins', number=number)}]({address})"
    return f"[{say('words.the_pull_request_begins')}]({address})"


def _completed(view: RunView) -> CommentReply:
    state = view.state
    if state.nothing_to_do is not None:
        return _unneeded(view, state.nothing_to_do)
    red = state.verification is not None and state.verification.red
    caution = say("progress.completed.red_and_accepted") if red else ""
    if state.verification is not None and state.verification.requirements is not None:
        caution += "".join(f" {escape.line(each)}" for each in state.verification.requirements.said)
    link = pull_request_link(view)
    if state.pull_request and view.pull_state is PullState.MERGED:
        detail = say("progress.completed.merged", pull_request=link, caution=caution)
    elif state.pull_request and view.pull_state is PullState.CLOSED:
        detail = say("progress.completed.closed", pull_request=link, caution=caution)
    elif state.pull_request:
        detail = say("progress.completed.pull_request", pull_request=link, caution=caution)
    else:
        compare = view.compare(view.offered)
        detail = say(
            "progress.completed.branch",
            branch=escape.code(view.offered),
            compare=compare,
            caution=caution,
        )
    tone = "warning" if red else "tip"
    return reply(
        "completed",
        say("progress.completed.headline"),
        detail,
        tone=tone,
        reaction="rocket",
        outcome=Outcome.DONE,
    )


def _unneeded(view: RunView, found: NothingToDo) -> CommentReply:
    """Return the end of a run that changed nothing, with its evidence."""
    summary = view.links.named(view.pipeline.summary) if view.pipeline.summary else ""
    told = say("progress.unneeded.document", summary=summary) if summary else ""
    evidence = escape.document(found.evidence).text
    thanks = say("progress.unneeded.detail", document=told)
    detail = f"{UNNEEDED[found.why]}\n\n{evidence}\n\n{thanks}"
    return reply(
        "completed",
        say("progress.unneeded.headline"),
        detail,
        tone="tip",
        reaction="rocket",
        outcome=Outcome.DONE,
    )


def _abandoned(view: RunView) -> CommentReply:
    last = view.state.decisions[-1] if view.state.decisions else None
    by = (
        say("progress.abandoned.by", by=escape.code(last.by))
        if last is not None and last.answer == "abandon"
        else ""
    )
    branch, prefix = view.branch, view.commands.prefix
    return reply_of(
        "progress.abandoned", outcome=Outcome.ABANDONED, by=by, branch=branch, prefix=prefix
    )


# -- a question
# --------------------------------------------------------------------------------------------------


def _asked(view: RunView, gate: OpenGate) -> CommentReply:
    if "post" in gate.options:
        return reply_of("progress.all_but_done", "waiting")
    outcome = Outcome.BUDGET if gate.reason is Reason.BUDGET else Outcome.WAITING
    tone = "warning" if gate.reason is not None else "important"
    begin = asked_for(view, gate)
    return reply(
        "waiting",
        say("progress.your_turn", request=f"{begin[:1].lower()}{begin[1:]}"),
        _how_to_answer(view, gate),
        tone=tone,
        outcome=outcome,
    )


def asked_for(view: RunView, gate: OpenGate) -> str:
    """Return the request to a person, in one sentence."""
    if "done" in gate.options:
        return say("progress.asked_for.person")
    phase = view.pipeline.phase(gate.name)
    if isinstance(phase, GatePhase):
        names = [file.name for file in gate.files] or list(phase.shows)
        return say("progress.asked_for.reading", document=escape.code(names[0]))
    said = (
        view.question.data.decision[1]
        if view.question is not None and len(view.question.data.decision) > 1
        else ""
    )
    return escape.line(said) if said else say("progress.asked_for.decision")


def _how_to_answer(view: RunView, gate: OpenGate) -> str:
    typed = view.commands.say
    words = f"{escape.line(gate.subject)}\n\n" if gate.subject else ""
    where = (
        say("progress.how_to_answer.where", question=view.links.question)
        if view.links.question
        else ""
    )
    if "done" in gate.options:
        return f"{words}{where}" + say(
            "progress.how_to_answer.done", done=typed("done"), skip=typed("skip")
        )
    answers = {
        "approve": say(
            "progress.how_to_answer.to_go_on", approve=typed("approve", short(gate.digest))
        ),
        "reject": say("progress.how_to_answer.to_have_it_done_again", reject=typed("reject")),
    }
    offered = [answers[option] for option in gate.options if option in answers]
    if gate.reason is Reason.BUDGET:
        offered.append(
            say(
                "progress.how_to_answer.to_allow_more",
                more=view.commands.raise_budget(view.state.budget),
            )
        )
    ways = say("progress.how_to_answer.or").join(offered)
    return f"{words}{where}" + say("progress.how_to_answer.answer", answers=ways)


# -- the work
# --------------------------------------------------------------------------------------------------


def _nearly_spent(budget: Budget) -> str:
    """Return the rest of a budget that is used up to four fifths."""
    if budget.cap is not None and budget.spent * 5 > budget.cap * 4:
        return money(budget.cap - budget.spent)
    if budget.token_cap is not None and budget.tokens * 5 > budget.token_cap * 4:
        return say("words.tokens", tokens=max(0, budget.token_cap - budget.tokens))
    return ""


def _working(view: RunView) -> CommentReply:
    state = view.state
    phase = view.pipeline.phase(state.current_phase)
    detail = say("progress.working.nothing_is_needed")
    if isinstance(phase, TasksPhase | TaskReviewPhase) and state.tasks:
        settled = sum(task.settled for task in state.tasks)
        detail = say(
            "progress.working.tasks_settled", settled=settled, count=len(state.tasks), detail=detail
        )
    if isinstance(phase, PublishPhase):
        detail = say("progress.working.being_delivered")
    if left := _nearly_spent(state.budget):
        detail += say("progress.working.budget_left", left=left)
    return reply(
        "working",
        say("progress.working.headline", label=view.label(phase.id)),
        detail,
        reaction="eyes",
    )
