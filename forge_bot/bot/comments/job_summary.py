"""The summary on the page of a workflow run: the content of the thread's comment, with the outcome
and its exit code.
"""

from forge_bot.bot.comments.next_step import next_move
from forge_bot.bot.comments.phase_table import phases
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.bot.comments.run_view import RunView
from forge_bot.bot.comments.tracking_comment import facts, tasks
from forge_bot.interaction.fit_comment import compose
from forge_bot.runs.invocation_end import Outcome
from forge_bot.sentences import say

_SAID = {
    Outcome.DONE: "progress.summary.done",
    Outcome.FAILED: "progress.summary.failed",
    Outcome.USAGE: "progress.summary.asked_for_wrongly",
    Outcome.WAITING: "progress.summary.waiting",
    Outcome.BUDGET: "progress.summary.waiting_for_budget",
    Outcome.REFUSED: "progress.summary.refused",
    Outcome.ABANDONED: "progress.summary.abandoned",
}


def summary(view: RunView) -> str:
    """Markdown for GITHUB_STEP_SUMMARY; GitHub takes 1 MiB, this is far below."""
    move = next_move(view)
    issue = view.state.source
    thread = (
        say("progress.summary.issue", id=issue.id, url=issue.url)
        if issue.type == "github_issue" and issue.url
        else ""
    )
    return compose([outcome(move), move.text, thread, facts(view), phases(view), tasks(view)])


def short_summary(reply: CommentReply) -> str:
    """The summary of a run without anything to look at: a refused command, an unready setup."""
    return compose([outcome(reply), reply.text])


def outcome(reply: CommentReply) -> str:
    """The heading: how the invocation ended, and with which exit code of the job."""
    if reply.outcome is None:
        return f"## forge-bot: {say('progress.summary.under_way')}"
    code = say("words.exit_code", code=exit_code(reply.outcome))
    return f"## forge-bot: {say(_SAID[reply.outcome])}\n\n<sub>{code}</sub>"


def exit_code(outcome: Outcome) -> int:
    """A job is red where something failed. Waiting for a person is no failure, nor is an end that a
    person wanted.
    """
    return (
        0
        if outcome in {Outcome.DONE, Outcome.WAITING, Outcome.BUDGET, Outcome.ABANDONED}
        else outcome.value
    )
