"""The first part of every comment: the state of the run, and whether somebody has to act."""

from forge_bot.bot.comments.reply import CommentReply, RunView, reply
from forge_bot.engine.phases import GatePhase, PublishPhase, TaskReviewPhase, TasksPhase
from forge_bot.engine.process_documents import UNNEEDED
from forge_bot.engine.state import OpenGate, Reason
from forge_bot.gate.github_names import number_of
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.markdown_templates import Markdown
from forge_bot.prompts import escape
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


def pull_request_link(view: RunView) -> Markdown:
    """Return the pull request, at the beginning of a sentence or cell, as a link with its number if
    the address has one.
    """
    address = view.state.pull_request
    if number := number_of(address):
        return Markdown(f"[{say('words.pull_request_begins', number=number)}]({address})")
    return Markdown(f"[{say('words.the_pull_request_begins')}]({address})")


def _completed(view: RunView) -> CommentReply:
    state, verification = view.state, view.state.verification
    if state.nothing_to_do is not None:
        return _unneeded(view, state.nothing_to_do)
    checked = verification.requirements if verification is not None else None
    return reply(
        "completed",
        pull_request=pull_request_link(view),
        opened=bool(state.pull_request),
        offered=view.offered,
        compare=view.compare(view.offered),
        red=verification is not None and verification.red,
        notes=checked.said if checked is not None else (),
    )


def _unneeded(view: RunView, reason: NothingToDo) -> CommentReply:
    """Return the end of a run that changed nothing, with its evidence."""
    summary = view.pipeline.summary
    return reply(
        "unneeded",
        why=Markdown(UNNEEDED[reason.why]),
        evidence=Markdown(escape.document(reason.evidence).text),
        summary=Markdown(view.links.named(summary)) if summary else "",
    ).replace(occasion="completed")


def _abandoned(view: RunView) -> CommentReply:
    last = view.state.decisions[-1] if view.state.decisions else None
    by = last.by if last is not None and last.answer == "abandon" else ""
    return reply("abandoned", branch=view.branch, by=by, commands=view.commands)


# -- a question
# --------------------------------------------------------------------------------------------------


def _asked(view: RunView, gate: OpenGate) -> CommentReply:
    begin = asked_for(view, gate)
    return reply(
        "waiting",
        commands=view.commands,
        request=Markdown(f"{begin[:1].lower()}{begin[1:]}"),
        exceptional=gate.reason is not None,
        over_budget=gate.reason is Reason.BUDGET,
        more=view.commands.raise_budget(view.state.budget),
        subject=gate.subject,
        question=view.links.question,
        options=gate.options,
        digest=short(gate.digest),
    )


def asked_for(view: RunView, gate: OpenGate) -> str:
    """Return the request to a person, in one sentence."""
    if "done" in gate.options:
        return say("progress.asked_for.person")
    if gate.is_question_of_agent:
        return say("question.needs_your_answer")
    phase = view.pipeline.phase(gate.name)
    if isinstance(phase, GatePhase):
        names = [file.name for file in gate.files] or list(phase.shows)
        return say("progress.asked_for.reading", document=escape.code(names[0]))
    sentence = (
        view.question.data.decision[1]
        if view.question is not None and len(view.question.data.decision) > 1
        else ""
    )
    return escape.line(sentence) if sentence else say("progress.asked_for.decision")


# -- the work
# --------------------------------------------------------------------------------------------------


def _working(view: RunView) -> CommentReply:
    state = view.state
    phase = view.pipeline.phase(state.current_phase)
    by_task = isinstance(phase, TasksPhase | TaskReviewPhase)
    return reply(
        "working",
        label=Markdown(view.label(phase.id)),
        delivered=isinstance(phase, PublishPhase),
        settled=sum(task.settled for task in state.tasks),
        count=len(state.tasks) if by_task else 0,
    )


def standing(view: RunView) -> Markdown:
    """Return the state of the run in one or two sentences."""
    move = next_move(view)
    return Markdown(f"{move.headline} {move.detail.partition(chr(10))[0]}".strip())
