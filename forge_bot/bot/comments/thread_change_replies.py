"""Replies to a change of the thread: deleted, locked, moved, edited, labelled."""

from collections.abc import Sequence

from forge_bot.bot.comments.reply import (
    CommentReply,
    failure_of,
    refusal_of,
    reply,
    reply_of,
)
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.prompts import escape
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import say


def comment_deleted(*, what: str) -> CommentReply:
    """A comment of the bot is gone."""
    return reply_of("thread.comment_deleted", what=escape.plain(what, 60))


def question_edited(commands: CommandNames) -> CommentReply:
    """Somebody changed the comment with the open question, so an approval may mean another text."""
    return refusal_of("thread.question_edited", tone="warning", approve=commands.say("approve"))


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


def repository_renamed(commands: CommandNames, *, old: str, new: str) -> CommentReply:
    """The repository has another name now."""
    before, after = escape.code(old), escape.code(new)
    return reply_of("thread.repository_renamed", again=commands.again, old=before, new=after)


def base_is_gone(*, old: str, new: str) -> CommentReply:
    """The branch that the run began from was renamed or deleted; the change goes to another."""
    return reply_of("thread.base_is_gone", old=escape.code(old), new=escape.code(new))


def request_edited(
    links: Links, commands: CommandNames, *, issue: bool = True, comments: Sequence[str] = ()
) -> CommentReply:
    """The issue was edited after somebody had asked for a run of it, or comments were edited, which
    do not count then.

    GitHub does not tell us by whom.
    """
    detail = say(
        "thread.request_edited.detail",
        request=links.artifact("request.md"),
        refresh=commands.say("refresh"),
    )
    named = "".join(
        f"\n- [{say('thread.comment', number=url.rpartition('-')[2])}]({url})"
        for url in comments[:10]
    )
    left_out = say("thread.request_edited.left_out", named=named) if comments else ""
    headline = (
        say("thread.request_edited.headline")
        if issue
        else say("thread.request_edited.headline_of_comments")
    )
    return reply(
        "request-edited", headline, "\n\n".join(part for part in (detail, left_out) if part)
    )


def edited_since(*, command: str) -> CommentReply:
    """Title or text of the issue were edited after the command, and what stood there before is not
    known.
    """
    return refusal_of(
        "thread.edited_since", tone="warning", outcome=Outcome.WAITING, command=command
    )


def label_ignored(
    commands: CommandNames, *, labels: Sequence[tuple[str, str]], role: str
) -> CommentReply:
    """Labels that modify a run, each with who added it, and none of those people could approve."""
    unnamed = say("thread.label_ignored.unnamed_account")
    named = "".join(
        "\n- "
        + say(
            "thread.label_ignored.added_by",
            label=escape.code(name),
            by=escape.code(by) if by else unnamed,
        )
        for name, by in labels
    )
    return reply_of(
        "thread.label_ignored",
        role=escape.plain(role),
        named=named,
        abandon=commands.say("abandon"),
        prefix=commands.prefix,
    )


def label_too_late(commands: CommandNames, *, label: str) -> CommentReply:
    """A label that modifies runs was put on while one was under way."""
    return reply_of(
        "thread.label_too_late",
        label=escape.code(label),
        effort=commands.say("effort", "L"),
        abandon=commands.say("abandon"),
        prefix=commands.prefix,
    )
