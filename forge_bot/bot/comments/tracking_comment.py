"""The tracking comment, one for a run and edited as the run proceeds; the page of a workflow run
shows it too.

The next step is at the top, then the state of each phase, and the cost.
"""

from forge_bot.bot.comments.reply import RunView, next_move, pull_request_link
from forge_bot.engine.phase_rows import Row, rows
from forge_bot.engine.phases import EndPhase, Phase, PublishPhase, SetupPhase
from forge_bot.engine.state import Reason, TaskState, TaskStatus
from forge_bot.interaction import markers
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import Rows, compose, fold
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.number_format import head, may_be_billed, money, spent, tokens
from forge_bot.interaction.run_facts import decided, footer, verdict_words
from forge_bot.prompts import escape
from forge_bot.runs.this_process import Outcome
from forge_bot.sentences import listed, say

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
            commands_now(view),
            footer(view, with_time=False),
            markers.tracking(view.state.run, _issue_at_work(view)),
        ]
    )


def _issue_at_work(view: RunView) -> str:
    """The number of the issue whose run this is, while it is not over."""
    source = view.state.source
    return source.id if source.is_on_forge and not view.state.ended else ""


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
    if not state.tasks:
        return ""
    settled = sum(task.settled for task in state.tasks)
    plan = next((name for name in view.pipeline.task_lists if name in state.artifacts), "")
    where = say("progress.tasks.see", document=view.links.named(plan)) if plan else ""
    table = Rows(
        [_task(view, task) for task in state.tasks],
        "progress.tasks.more",
        where=where,
        before=head("columns.task", "columns.result", "columns.documents"),
        room=12_000,
    ).shown()
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


def exit_code(outcome: Outcome) -> int:
    """A job is red where something failed. Waiting for a person is no failure, nor is an end that a
    person wanted.
    """
    good = outcome in {Outcome.DONE, Outcome.WAITING, Outcome.BUDGET, Outcome.ABANDONED}
    return 0 if good else outcome.value


_BEGUN = {"done", "current", "waiting"}
_PHASE_MARKS = {"done": "✅", "current": "🔨", "waiting": "✋", "open": "🔨"}
_MOST_DOCUMENTS = 3


def phases(view: RunView) -> str:
    """The started phases in their order, with their results; below them the phases still to come,
    and those left out.
    """
    known = [entry for entry in rows(view.pipeline, view.state) if not _is_bookkeeping(view, entry)]
    shown = [entry for entry in known if entry.standing in _BEGUN or entry.usage.calls]
    later = [
        view.label(entry.phase)
        for entry in known
        if entry.standing == "open" and not entry.usage.calls
    ]
    left_out = [view.label(entry.phase) for entry in known if entry.standing == "skipped"]
    priced = view.state.usage.cost is not None
    notes = list[str]()
    if later and not view.state.ended:
        notes.append(say("progress.phases.still_to_come", phases=" → ".join(later)))
    if left_out:
        names = listed(left_out)
        not_part = say("progress.phases.not_part", effort=view.state.effort, phases=names)
        notes.append(f"<sub>{not_part}</sub>")
    table = Rows(
        [
            *(_line(view, entry, priced=priced) for entry in shown),
            _total(view, priced=priced),
        ],
        "progress.phases.more",
        before=head(
            "columns.phase",
            "columns.came_of_it",
            "columns.cost" if priced else "columns.tokens",
            align="llr",
        ),
        room=14_000,
    ).shown()
    return "\n\n".join([table, *notes])


def _is_bookkeeping(view: RunView, entry: Row) -> bool:
    """Return whether a row says nothing to people: the end, and publications but the pull request,
    unless the run has stopped there.
    """
    phase = view.pipeline.phase(entry.phase)
    if isinstance(phase, EndPhase):
        return True
    stopped = entry.standing in {"current", "waiting"} and view.trouble is not None
    return isinstance(phase, PublishPhase) and phase.operation != "pull-request" and not stopped


def _line(view: RunView, entry: Row, *, priced: bool) -> str:
    state, phase = view.state, view.pipeline.phase(entry.phase)
    now = entry.standing in {"current", "waiting"}
    decisions = [one for one in state.decisions if one.gate == phase.id]
    records = [record for record in state.artifacts.values() if record.phase == phase.id]
    paid = money(entry.usage.cost) if priced else tokens(entry.usage)
    delivers = isinstance(phase, PublishPhase) and phase.operation == "pull-request"
    return render(
        "parts.phase",
        mark="⏹️" if now and state.ended else _PHASE_MARKS[entry.standing],
        label=Markdown(view.label(phase.id)),
        now=now,
        kind=phase.kind,
        state=state,
        settled=sum(task.settled for task in state.tasks),
        passed=sum(task.verdict is not None and task.verdict.positive for task in state.tasks),
        pull_request=pull_request_link(view) if delivers and state.pull_request else "",
        decided=Markdown(decided(decisions[-1])) if decisions else "",
        version=short(decisions[-1].digest) if decisions else "",
        verdict=verdict_words(records[0].verdict) if records else "",
        round=records[0].round if records else 1,
        documents=Markdown(" · ".join(_documents(view, phase))),
        paid=Markdown(paid if entry.usage.calls else ""),
    )


def _total(view: RunView, *, priced: bool) -> str:
    usage = view.state.usage
    return render(
        "parts.total",
        usage=usage,
        priced=priced,
        lost=may_be_billed(usage),
        paid=Markdown(money(usage.cost) if priced else tokens(usage)),
    )


def _documents(view: RunView, phase: Phase) -> list[str]:
    if isinstance(phase, SetupPhase):
        return [view.links.named(phase.writes)]
    names = [name for name, record in view.state.artifacts.items() if record.phase == phase.id]
    return [view.links.named(name) for name in names] if len(names) <= _MOST_DOCUMENTS else []
