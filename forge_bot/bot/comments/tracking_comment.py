"""The tracking comment: one for a run, edited as the run proceeds.

The next step is at the top, then the state of each phase, and the cost.
"""

from forge_bot.bot.comments.next_step import next_move
from forge_bot.bot.comments.phase_table import phases
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.capability_uses import use_lines
from forge_bot.engine.state import Reason, TaskState, TaskStatus
from forge_bot.interaction import markers
from forge_bot.interaction.fit_comment import compose, fold, limited
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.number_format import head, spent
from forge_bot.interaction.run_facts import footer, verdict_words
from forge_bot.prompts import escape
from forge_bot.sentences import say

_MOST_CAPABILITIES = 40
_MOST_UNREAD = 3
"""Comments that are listed without a fold."""

_MARKS = {
    TaskStatus.PENDING: "⬜",
    TaskStatus.CLEARED: "🔨",
    TaskStatus.IMPLEMENTED: "🔎",
    TaskStatus.PASSED: "✅",
    TaskStatus.SKIPPED: "➖",
}


def tracking(view: RunView) -> str:
    """The comment. Only its first part changes much, so people who come back know where to look."""
    return compose(
        [
            next_move(view).alert(),
            facts(view),
            unread_comments(view),
            phases(view),
            tasks(view),
            capabilities(view),
            commands_now(view),
            footer(view, with_time=False),
            markers.tracking(view.state.run, _issue_at_work(view)),
        ]
    )


def _issue_at_work(view: RunView) -> str:
    """The number of the issue whose run this is, while it is not over."""
    source = view.state.source
    return source.id if source.type == "github_issue" and not view.state.ended else ""


def facts(view: RunView) -> str:
    """Return effort and why, branch, estimate, money, and the time of the last change."""
    paid = Markdown(spent(view.state.usage, view.state.budget))
    return render("parts.facts", view=view, state=view.state, spent=paid)


def unread_comments(view: RunView) -> str:
    """Return the comments that the request does not have, by author, folded where they are many;
    empty when there is none and once the run is over.
    """
    if not view.unread or view.state.ended:
        return ""
    label = say("progress.unread", count=len(view.unread))
    authors = dict.fromkeys(comment.author for comment in view.unread)
    by_author = [
        (author, [one for one in view.unread if one.author == author]) for author in authors
    ]
    listed = render("parts.unread", by_author=by_author, prefix=view.commands.prefix)
    many = len(view.unread) > _MOST_UNREAD
    return fold(f"<b>{label}</b>", listed) if many else f"**{label}**: {listed}"


def capabilities(view: RunView) -> str:
    """Return the used tools and skills, folded, each with its results."""
    uses = use_lines(view.state)[:_MOST_CAPABILITIES]
    label = say("progress.tools_and_skills", count=len(uses))
    return fold(label, render("parts.capabilities", uses=uses)) if uses else ""


def commands_now(view: RunView) -> str:
    """The commands that count in the present state, each ready to be copied."""
    state, commands = view.state, view.commands
    if state.ended:
        return ""
    gate = state.gate
    if gate is not None:
        offered = [commands.form(option, gate.digest) for option in gate.options]
        offered += [commands.raise_budget(state.budget)] if gate.reason is Reason.BUDGET else []
    else:
        offered = [commands.again] if view.trouble is not None else []
    others = ("ask", "status", "abandon") if commands.asks else ("status", "abandon")
    shown = dict.fromkeys([*offered, *map(commands.form, others)])
    return say("progress.you_can_say_now", commands=" · ".join(map(escape.code, shown)))


def tasks(view: RunView) -> str:
    """The tasks, folded, with the documents of each."""
    state = view.state
    settled = sum(task.settled for task in state.tasks)
    plan = next((name for name in view.pipeline.task_lists if name in state.artifacts), "")
    where = say("progress.tasks.see", document=view.links.named(plan)) if plan else ""
    if not state.tasks:
        return ""
    table = limited(
        [_task(view, task) for task in state.tasks],
        "progress.tasks.more",
        where,
        before=head("columns.task", "columns.result", "columns.documents"),
        most=12_000,
    )
    return fold(say("progress.tasks.label", settled=settled, count=len(state.tasks)), table)


def _task(view: RunView, task: TaskState) -> str:
    state, spec = view.state, task.spec
    under_way = state.wave is not None and spec.id in state.wave.remaining
    names = (*view.pipeline.task_documents(spec.id), f"held-{spec.id}.patch")
    documents = [view.links.named(name) for name in names if name in state.artifacts]
    return render(
        "parts.task",
        task=task,
        mark="✋" if task.stuck is not None else "🔨" if under_way else _MARKS[task.status],
        under_way=under_way,
        verdict=Markdown(verdict_words(task.verdict)),
        documents=Markdown(", ".join(documents)),
    )
