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
from forge_bot.interaction.number_format import head, money, row, spent
from forge_bot.interaction.run_facts import footer, verdict_words
from forge_bot.prompts import escape
from forge_bot.sentences import say

_MOST_CAPABILITIES = 40

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
            phases(view),
            tasks(view),
            capabilities(view),
            commands_now(view),
            footer(view, with_time=False),
            markers.tracking(view.state.run, _under_way(view)),
        ]
    )


def _under_way(view: RunView) -> str:
    """The number of the issue whose run this is, while it is not over."""
    source = view.state.source
    return source.id if source.type == "github_issue" and not view.state.ended else ""


def facts(view: RunView) -> str:
    """Effort and why, branch, estimate, money, and the time of the last change."""
    state = view.state
    lines = [
        say(
            "progress.facts.effort",
            effort=state.effort,
            reason=escape.line(state.effort_reason, 200),
            branch=view.branch,
            base=escape.code(state.base_branch),
        )
    ]
    parts = [say("progress.facts.spent", spent=spent(state.usage, state.budget))]
    if view.estimate:
        parts.append(say("progress.facts.estimate", estimate=escape.plain(view.estimate)))
    parts.append(say("progress.facts.as_of", time=state.updated_at))
    lines.append(" · ".join(parts))
    return "  \n".join(lines)


def capabilities(view: RunView) -> str:
    """The used tools and skills, folded, each with its results."""
    lines = use_lines(view.state)[:_MOST_CAPABILITIES]
    rows = [
        row(
            escape.code_cell(line.name),
            escape.cell(line.words),
            money(line.cost) if line.cost is not None else "",
        )
        for line in lines
    ]
    label = say("progress.tools_and_skills", count=len(rows))
    table = head("columns.name", "columns.came_of_it", "columns.cost") + "\n".join(rows)
    return fold(label, table) if rows else ""


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
    others = ("ask", "cost", "abandon") if commands.asks else ("cost", "abandon")
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
    mark = "✋" if task.stuck is not None else "🔨" if under_way else _MARKS[task.status]
    names = [
        name
        for name in (*view.pipeline.task_documents(spec.id), f"held-{spec.id}.patch")
        if name in state.artifacts
    ]
    documents = ", ".join(view.links.named(name) for name in names)
    return row(
        f"{mark} {escape.plain(spec.id, 20)}. {escape.plain(spec.title, 160)}",
        _result(task, under_way=under_way),
        documents,
    )


def _result(task: TaskState, *, under_way: bool) -> str:
    if task.stuck is not None:
        return say(
            "progress.tasks.waits_for_a_decision", reason=task.stuck.reason.value.replace("_", " ")
        )
    if under_way:
        return (
            say("progress.tasks.under_way_try", number=task.attempts + 1)
            if task.attempts
            else say("progress.tasks.under_way")
        )
    again = say("progress.tasks.after_rounds", count=task.rounds) if task.rounds else ""
    match task.status:
        case TaskStatus.PENDING:
            return say("progress.tasks.to_be_done_again") if task.rounds or task.attempts else ""
        case TaskStatus.CLEARED:
            return say("progress.tasks.held_change_may_be_applied")
        case TaskStatus.IMPLEMENTED:
            return say("progress.tasks.waits_for_its_review")
        case TaskStatus.PASSED:
            return (verdict_words(task.verdict) or say("words.done")) + again
        case TaskStatus.SKIPPED:
            return say("progress.tasks.skipped_by_a_person")
