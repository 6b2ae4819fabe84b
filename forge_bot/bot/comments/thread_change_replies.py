"""Replies to a change of the thread: deleted, locked, moved, edited, labelled."""

from forge_bot.bot.comments.reply import (
    CommentReply,
    failure_of,
    reply,
    reply_of,
)
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.prompts import escape
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import say


def issue_locked(links: Links) -> CommentReply:
    """Nobody can write into the thread. Said in summary and log, the only places left."""
    return failure_of("thread.issue_locked", outcome=Outcome.REFUSED, folder=links.folder)


def issue_transferred(links: Links, *, to: str) -> CommentReply:
    """The issue belongs to another repository now."""
    place, folder = escape.line(to, 200), links.folder
    return failure_of("thread.issue_transferred", outcome=Outcome.REFUSED, to=place, folder=folder)


def issue_gone(links: Links) -> CommentReply:
    """The issue was deleted, or can no longer be seen."""
    return failure_of("thread.issue_gone", outcome=Outcome.REFUSED, folder=links.folder)


def label_removed(commands: CommandNames, *, label: str) -> CommentReply:
    """The label that started the run was taken off while it was at work: a wish to stop."""
    return failure_of(
        "thread.label_removed",
        tone="note",
        outcome=Outcome.WAITING,
        work_is_safe=say("words.work_is_safe"),
        retry=commands.say("retry"),
        abandon=commands.say("abandon"),
        label=escape.code(label),
    )


_CLOSED_FOR = {
    "not_planned": "thread.issue_closed.headline_of_not_planned",
    "duplicate": "thread.issue_closed.headline_of_duplicate",
}
"""The name of the sentence for a reason that GitHub gives; any other is not told."""


def issue_closed(commands: CommandNames, *, why: str, answer: str) -> CommentReply:
    """The issue was closed while its run was not over. `answer` is the command that answers the
    open question; empty without one.
    """
    detail = say(
        "thread.issue_closed.detail",
        work_is_safe=say("words.work_is_safe"),
        command=answer or commands.say("retry"),
        abandon=commands.say("abandon"),
    )
    headline = say(_CLOSED_FOR.get(why, "thread.issue_closed.headline"))
    return reply("issue-closed", headline, detail, outcome=Outcome.WAITING)


def closed_and_asked(commands: CommandNames, *, by: str) -> CommentReply:
    """Somebody gave a command on a closed issue, and the run goes on."""
    abandon = commands.say("abandon")
    return reply_of("thread.closed_and_asked", by=escape.code(by), abandon=abandon)


def base_is_gone(*, old: str, new: str) -> CommentReply:
    """The branch that the run began from was renamed or deleted; the change goes to another."""
    return reply_of("thread.base_is_gone", old=escape.code(old), new=escape.code(new))
