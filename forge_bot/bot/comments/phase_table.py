"""The table of phases: their states, results and costs."""

from forge_bot.bot.comments.next_step import pull_request_link
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.phase_rows import Row, rows
from forge_bot.engine.phases import (
    EndPhase,
    Phase,
    PublishPhase,
    SetupPhase,
)
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import limited
from forge_bot.interaction.markdown_templates import Markdown, render
from forge_bot.interaction.number_format import head, may_be_billed, money, tokens
from forge_bot.interaction.run_facts import decided, verdict_words
from forge_bot.sentences import listed, say

_BEGUN = {"done", "current", "waiting"}
_MARKS = {"done": "✅", "current": "🔨", "waiting": "✋", "open": "🔨"}
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
    notes = (
        [say("progress.phases.still_to_come", phases=" → ".join(later))]
        if later and not view.state.ended
        else []
    )
    if left_out:
        names = listed(left_out)
        not_part = say("progress.phases.not_part", effort=view.state.effort, phases=names)
        notes.append(f"<sub>{not_part}</sub>")
    table = limited(
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
        most=14_000,
    )
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
        mark="⏹️" if now and state.ended else _MARKS[entry.standing],
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
