"""The summary on the page of a workflow run: the same truth as in the thread, with the outcome and
its exit code.
"""

from forge_bot.bot.comments.next_step import next_move
from forge_bot.bot.comments.phase_table import phases
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.bot.comments.run_view import RunView
from forge_bot.bot.comments.tracking_comment import facts, tasks
from forge_bot.interaction.fit_comment import LIMIT, compose
from forge_bot.runs.outcome import Outcome
from forge_bot.wording import several

_SAID = {
    Outcome.DONE: "✅ Done",
    Outcome.FAILED: "❌ Failed",
    Outcome.USAGE: "❌ Asked for in a way that cannot be done",
    Outcome.WAITING: "✋ Waiting for a person",
    Outcome.BUDGET: "✋ Waiting: the budget is used up",
    Outcome.REFUSED: "⛔ Refused",
    Outcome.ABANDONED: "⏹️ Abandoned",
}


def summary(view: RunView, limit: int = LIMIT) -> str:
    """Markdown for GITHUB_STEP_SUMMARY; GitHub takes 1 MiB, this is far below."""
    move = next_move(view)
    issue = view.state.source
    thread = (
        f"[Issue {issue.id}]({issue.url})" if issue.type == "github_issue" and issue.url else ""
    )
    decided = several(len(view.state.decisions), "decision") if view.state.decisions else ""
    return compose(
        [
            outcome(move),
            move.text,
            thread + (f" · {decided} so far" if thread and decided else ""),
            facts(view),
            phases(view),
            tasks(view),
        ],
        limit,
    )


def short_summary(reply: CommentReply) -> str:
    """The summary of a run that had nothing to look at: a command refused, a setup that is not
    ready.
    """
    return compose([outcome(reply), reply.text])


def outcome(reply: CommentReply) -> str:
    """The heading: how the invocation ended, and with which exit code of the job."""
    if reply.outcome is None:
        return "## forge-bot: under way"
    return (
        f"## forge-bot: {_SAID[reply.outcome]}\n\n<sub>exit code {exit_code(reply.outcome)}</sub>"
    )


def exit_code(outcome: Outcome) -> int:
    """A job is red where something failed. Waiting for a person is no failure, nor is an end that a
    person wanted.
    """
    return (
        0
        if outcome in {Outcome.DONE, Outcome.WAITING, Outcome.BUDGET, Outcome.ABANDONED}
        else outcome.value
    )
