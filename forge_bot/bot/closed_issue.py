"""A closed issue stops its run until somebody asks for more. It reads the thread and holds no
state: a closing and what was said after it have their times on GitHub.
"""

from datetime import datetime

from forge_bot.bot.comments import thread_change_replies
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.bot.thread import Thread
from forge_bot.gate.grammar import TALK
from forge_bot.github_api.types import Issue
from forge_bot.interaction.command_names import CommandNames
from forge_bot.runs.run import Run


def stopped_by_closing(
    run: Run, issue: Issue, thread: Thread, commands: CommandNames
) -> CommentReply | None:
    """Return what is said where the issue was closed and nobody asked for more since; None if the
    run may go on.
    """
    if issue.closed_at is None or asked_since(run, issue.closed_at, thread):
        return None
    answer = "" if run.state.gate is None else commands.say(run.state.gate.options[0])
    return thread_change_replies.issue_closed(commands, why=issue.state_reason, answer=answer)


def asked_since(run: Run, closed: datetime, thread: Thread) -> str:
    """Return who last gave a command or put the label on after the issue was closed; empty if
    nobody did.

    GitHub's times have whole seconds: a command of the same second does not count, as with a
    comment that somebody closes the issue with.
    """
    pull = thread.pull_of(run)
    by = ""
    for spoken in thread.spoken(thread.number, *((pull,) if pull else ())):
        if spoken.comment.created_at > closed and not isinstance(spoken.command, TALK):
            by = spoken.by
    if by:
        return by
    label = thread.inputs.label.casefold()
    return next(
        (
            event.actor.login
            for event in thread.events()
            if event.kind == "labeled"
            and event.label.casefold() == label
            and event.at > closed
            and thread.may_label(event)
        ),
        "",
    )
