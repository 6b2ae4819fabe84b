"""Replies to a change of the thread: deleted, locked, moved, edited, labelled."""

from collections.abc import Sequence

from forge_bot.bot.comments.reply import WORK_IS_SAFE, CommentReply, failure_reply
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.prompts import escape
from forge_bot.runs.outcome import Outcome


def comment_deleted(*, what: str) -> CommentReply:
    """A comment of the bot is gone."""
    detail = (
        "So here is a new one. What was decided is kept with the run, not in comments; only what is"
        " open is asked again."
    )
    return CommentReply(
        occasion="comment-deleted",
        headline=f"Somebody deleted {escape.plain(what, 60)}.",
        detail=detail,
    )


def issue_locked(links: Links) -> CommentReply:
    """Nobody can write into the thread. Said in the summary and in the log, the only places
    left.
    """
    detail = (
        "I cannot ask or answer there, so I stop before anything that needs a decision. Unlock the"
        " issue and put the label on again, or go on at a terminal. Everything so far is [on the"
        f" branch]({links.folder})."
    )
    return failure_reply("issue-locked", "The issue is locked.", detail, outcome=Outcome.REFUSED)


def issue_transferred(links: Links, *, to: str) -> CommentReply:
    """The issue belongs to another repository now."""
    detail = (
        f"It is now {escape.line(to, 200)}. The work so far stays [here]({links.folder}); to begin"
        " there, put the label on there."
    )
    return failure_reply(
        "issue-transferred",
        "The issue was moved to another repository.",
        detail,
        outcome=Outcome.REFUSED,
    )


def issue_gone(links: Links) -> CommentReply:
    """The issue was deleted, or cannot be seen any more."""
    detail = (
        f"I stopped. Everything so far is [on the branch]({links.folder}); `forge-bot resume` at a"
        " terminal goes on with it."
    )
    return failure_reply(
        "issue-gone",
        "The issue is gone, or I may not see it any more.",
        detail,
        outcome=Outcome.REFUSED,
    )


def label_removed(commands: CommandNames, *, label: str) -> CommentReply:
    """The label that started the run was taken off while it was at work: a wish to stop."""
    detail = (
        f"I take that as “stop”, and have stopped after the step that was under way. {WORK_IS_SAFE}"
        f" `{commands.say('retry')}` or the label goes on from here, `{commands.say('abandon')}`"
        " ends the run."
    )
    return failure_reply(
        "label-removed",
        f"Somebody took the label {escape.code(label)} off.",
        detail,
        tone="note",
        outcome=Outcome.WAITING,
    )


def repository_renamed(commands: CommandNames, *, old: str, new: str) -> CommentReply:
    """The repository has another name now."""
    detail = (
        "GitHub forwards the old addresses, and the run goes on as it was. If something looks"
        f" lost, say `{commands.again}`."
    )
    return CommentReply(
        occasion="repository-renamed",
        headline=f"{escape.code(old)} is {escape.code(new)} now.",
        detail=detail,
    )


def request_edited(
    links: Links, commands: CommandNames, *, issue: bool = True, comments: Sequence[str] = ()
) -> CommentReply:
    """The issue was edited after somebody had asked for a run of it, or comments were edited, which
    do not count then.

    GitHub does not tell us by whom.
    """
    detail = (
        f"I work on [the text as it was when I was asked]({links.artifact('request.md')}). If the"
        f" newer one should count, say `{commands.say('refresh')}`, and I begin again with it."
    )
    named = "".join(f"\n- [comment {url.rpartition('-')[2]}]({url})" for url in comments[:10])
    left_out = (
        "These comments were edited, so I left them out. To have one count, write it anew"
        f" first:\n{named}"
        if comments
        else ""
    )
    headline = (
        "The issue was edited after I was asked to work on it."
        if issue
        else "Comments were edited, so I left them out."
    )
    return CommentReply(
        occasion="request-edited",
        headline=headline,
        detail="\n\n".join(part for part in (detail, left_out) if part),
    )


def edited_since(*, command: str) -> CommentReply:
    """Title or text of the issue were edited after the command, and what stood there before is not
    known.
    """
    return CommentReply(
        occasion="edited-since",
        headline="The issue was edited after you said that, so I did not take its text.",
        detail=(
            "Nothing was changed. I cannot see what you read. Please look at the issue as it is"
            f" now. If it is right, say `{command}` again."
        ),
        tone="warning",
        reaction="confused",
        outcome=Outcome.WAITING,
    )


def label_ignored(
    commands: CommandNames, *, labels: Sequence[tuple[str, str]], role: str
) -> CommentReply:
    """Labels that modify a run, each with who added it, and none of those people could approve."""
    named = "".join(
        f"\n- {escape.code(name)}, added by"
        f" {escape.code(by) if by else 'an account that GitHub does not name'}"
        for name, by in labels
    )
    detail = (
        f"Such a label counts only from a person with the role {escape.plain(role)} or higher who"
        f" added it without an app.\n{named}\n\nTo have it count, such a person says"
        f" `{commands.say('abandon')}`, and then `{commands.prefix}` with `--auto` or `--effort`."
    )
    return CommentReply(
        occasion="label-ignored",
        headline="I ignored labels of people who may not approve.",
        detail=detail,
        tone="note",
    )


def asked_too_much(commands: CommandNames, *, notes: Sequence[str]) -> CommentReply:
    """The task names something that cannot be delivered from here, or not as wished; said before
    money is spent.
    """
    said = "".join(f"\n- {escape.line(note, 400)}" for note in notes[:5])
    detail = f"I have begun all the same; `{commands.say('abandon')}` ends it.\n{said}"
    return CommentReply(
        occasion="asked-too-much",
        headline="Before I spend anything: one thing will not go as wished.",
        detail=detail,
    )
