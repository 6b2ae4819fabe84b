"""Replies to a change of the thread: deleted, locked, moved, edited, labelled."""

from collections.abc import Sequence

from forge_bot.bot.comments.reply import CommentReply, failure_reply, reply
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.prompts import escape
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import say


def comment_deleted(*, what: str) -> CommentReply:
    """A comment of the bot is gone."""
    detail = say("thread.comment_deleted.detail")
    return reply(
        "comment-deleted",
        say("thread.comment_deleted.headline", what=escape.plain(what, 60)),
        detail,
    )


def question_edited(commands: CommandNames) -> CommentReply:
    """Somebody changed the comment with the open question, so an approval may mean another text."""
    return reply(
        "question-edited",
        say("thread.question_edited.headline"),
        say("thread.question_edited.detail", approve=commands.say("approve")),
        tone="warning",
        reaction="confused",
    )


def issue_locked(links: Links) -> CommentReply:
    """Nobody can write into the thread. Said in summary and log, the only places left."""
    detail = say("thread.issue_locked.detail", folder=links.folder)
    return failure_reply(
        "issue-locked", say("thread.issue_locked.headline"), detail, outcome=Outcome.REFUSED
    )


def issue_transferred(links: Links, *, to: str) -> CommentReply:
    """The issue belongs to another repository now."""
    detail = say("thread.issue_transferred.detail", to=escape.line(to, 200), folder=links.folder)
    return failure_reply(
        "issue-transferred",
        say("thread.issue_transferred.headline"),
        detail,
        outcome=Outcome.REFUSED,
    )


def issue_gone(links: Links) -> CommentReply:
    """The issue was deleted, or can no longer be seen."""
    detail = say("thread.issue_gone.detail", folder=links.folder)
    return failure_reply(
        "issue-gone", say("thread.issue_gone.headline"), detail, outcome=Outcome.REFUSED
    )


def label_removed(commands: CommandNames, *, label: str) -> CommentReply:
    """The label that started the run was taken off while it was at work: a wish to stop."""
    detail = say(
        "thread.label_removed.detail",
        work_is_safe=say("words.work_is_safe"),
        retry=commands.say("retry"),
        abandon=commands.say("abandon"),
    )
    return failure_reply(
        "label-removed",
        say("thread.label_removed.headline", label=escape.code(label)),
        detail,
        tone="note",
        outcome=Outcome.WAITING,
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
    return reply(
        "closed-and-asked",
        say("thread.closed_and_asked.headline", by=escape.code(by)),
        say("thread.closed_and_asked.detail", abandon=commands.say("abandon")),
    )


def repository_renamed(commands: CommandNames, *, old: str, new: str) -> CommentReply:
    """The repository has another name now."""
    detail = say("thread.repository_renamed.detail", again=commands.again)
    return reply(
        "repository-renamed",
        say("thread.repository_renamed.headline", old=escape.code(old), new=escape.code(new)),
        detail,
    )


def base_is_gone(*, old: str, new: str) -> CommentReply:
    """The branch that the run began from was renamed or deleted; the change goes to another."""
    name = escape.code(new)
    return reply(
        "base-is-gone",
        say("thread.base_is_gone.headline", old=escape.code(old), new=name),
        say("thread.base_is_gone.detail", new=name),
    )


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
    return reply(
        "edited-since",
        say("thread.edited_since.headline"),
        say("thread.edited_since.detail", command=command),
        tone="warning",
        reaction="confused",
        outcome=Outcome.WAITING,
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
    detail = say(
        "thread.label_ignored.detail",
        role=escape.plain(role),
        named=named,
        abandon=commands.say("abandon"),
        prefix=commands.prefix,
    )
    return reply("label-ignored", say("thread.label_ignored.headline"), detail, tone="note")


def asked_too_much(commands: CommandNames, *, notes: Sequence[str]) -> CommentReply:
    """The task names something that cannot be delivered from here, or not as wished; said before
    money is spent.
    """
    said = "".join(f"\n- {escape.line(note, 400)}" for note in notes[:5])
    detail = say("thread.asked_too_much.detail", abandon=commands.say("abandon"), said=said)
    return reply("asked-too-much", say("thread.asked_too_much.headline"), detail)
