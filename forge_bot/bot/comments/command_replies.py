"""Answers to commands in the thread that need more of the run than a sentence does."""

from collections.abc import Sequence

from forge_bot.bot.comments.next_step import next_move, standing
from forge_bot.bot.comments.phase_table import phases
from forge_bot.bot.comments.reply import CommentReply, reply
from forge_bot.bot.comments.run_view import RunView
from forge_bot.bot.comments.tracking_comment import facts
from forge_bot.engine.state import OpenGate
from forge_bot.errors import ForgeError, PermissionMissing
from forge_bot.gate.arguments import names_version
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import Paper, Papers, compose
from forge_bot.interaction.markdown_templates import Markdown
from forge_bot.interaction.remedy_words import advice_in_thread, remedy_for_people
from forge_bot.remedies import Remedy
from forge_bot.values import RunStatus

_MOST_SHOWN = 2_000
"""Characters of somebody's words that are shown back."""


def reply_with_state(name: str, view: RunView, **values: object) -> CommentReply:
    """Return a reply that says where the run stands."""
    given = {"now": standing(view), "branch": view.branch, "commands": view.commands}
    return reply(name, **(given | values))


def ended_already(view: RunView) -> CommentReply:
    """Return the reply to a command to a run that is over."""
    abandoned = view.state.current_phase_status is RunStatus.ABANDONED
    how = Markdown(next_move(view).text)
    return reply("ended_already", how=how, abandoned=abandoned, commands=view.commands)


def stale_approval(view: RunView, gate: OpenGate, *, given: str = "") -> CommentReply:
    """Return the reply to an approval of another text than the one that waits."""
    # The address is that of the question asked last, which may have shown an older version.
    is_newest = bool(gate.shown) and gate.shown[-1].digest == gate.digest
    return reply(
        "stale_approval",
        commands=view.commands,
        given=given,
        # A beginning that fits another version too names none: then the whole digest is asked for.
        digest=gate.digest if names_version(given, gate.digest) else short(gate.digest),
        question=view.links.question if is_newest else "",
    )


def shown_back(commands: CommandNames, *, line: str, words: str) -> CommentReply | None:
    """Show back what counted of a comment: the words of a person, and the `line` with text below it
    that was not read. Return None where there is nothing to show.
    """
    if not line and not words:
        return None
    return reply("taken", commands=commands, line=line, words=words[:_MOST_SHOWN])


def asked_for_status(view: RunView) -> CommentReply:
    """Return the state of the run, with its cost phase by phase."""
    move, table = next_move(view), compose([facts(view), phases(view)], 30_000)
    words = {"headline": move.headline, "detail": move.detail, "table": table}
    return reply("status", **{name: Markdown(text) for name, text in words.items()})


def cannot(commands: CommandNames, error: ForgeError) -> CommentReply:
    """Return the reply to a command that the run does not take now, in the words of the error."""
    return reply(
        "cannot",
        commands=commands,
        message=error.message,
        details=error.details[:20],
        advice=Markdown(advice_in_thread(error, commands)),
        status_named=remedy_for_people(error) == Remedy("show-status"),
    )


def answered(text: str, question: str) -> CommentReply:
    """Return a model's answer to a question about the run, below the question."""
    paper = Papers([Paper(name="answer", text=text, url="", open=True)])
    answer = Markdown(compose([paper], 40_000))
    return reply("answer", question=question[:_MOST_SHOWN], answer=answer)


def no_fix(view: RunView, *, checks: Sequence[str], pull_request: str) -> CommentReply:
    """Return the reply where no check of the pull request failed in a way that another change could
    mend. The phase that people go back to most is the one whose document is approved first.
    """
    plan = view.pipeline.approved_first
    phase = plan.id if plan is not None else view.pipeline.speaking[0].id
    return reply(
        "no_fix", commands=view.commands, checks=checks, pull_request=pull_request, phase=phase
    )


def pull_request_by_hand(view: RunView, error: ForgeError, *, url: str) -> CommentReply:
    """Return how a person opens the pull request where GitHub did not let us, and what a maintainer
    can change for the next time.
    """
    is_missing = isinstance(error, PermissionMissing)
    return reply(
        "pull_request_by_hand",
        url=url,
        offered=view.offered,
        links=view.links,
        not_allowed=is_missing and bool(error.own_hint),
        lacking=error.details[0].replace("_", "-") if is_missing and error.details else "",
        message=error.message,
    )
