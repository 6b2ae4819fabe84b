"""A closed issue stops its run until somebody asks for more. It reads the thread and holds no
state: a closing and what was said after it have their times on GitHub.
"""

from datetime import datetime

from forge_bot.bot.comments.reply import CommentReply, reply
from forge_bot.bot.job_context import Wake
from forge_bot.bot.thread import Thread
from forge_bot.gate.grammar import TALK
from forge_bot.github_api.types import Issue
from forge_bot.interaction.command_names import CommandNames
from forge_bot.runs.run import Run


def stopped_by_closing(
    run: Run, issue: Issue, thread: Thread, commands: CommandNames, wake: Wake
) -> CommentReply | None:
    """Return what is said where the issue was closed and nobody asked for more since; None if the
    run may go on.
    """
    if issue.closed_at is None or asked_since(run, issue.closed_at, thread, wake):
        return None
    answer = "" if run.state.gate is None else commands.say(run.state.gate.options[0])
    return reply("issue_closed", commands=commands, why=issue.state_reason, answer=answer)


def asked_since(run: Run, closed: datetime, thread: Thread, wake: Wake) -> str:
    """Return who gave the last command after the issue was closed, or put the label on just now;
    empty if nobody did.

    GitHub's times have whole seconds: a command of the same second does not count, as with a
    comment that somebody closes the issue with.
    """
    pull = thread.pull_of(run)
    by = wake.by or "" if wake.way == "label" and wake.deed == "start" else ""
    for spoken in thread.spoken(thread.number, *((pull,) if pull else ())):
        if spoken.comment.created_at > closed and not isinstance(spoken.command, TALK):
            by = spoken.by
    return by
