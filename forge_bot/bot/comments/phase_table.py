"""The table of phases: their states, results and costs."""

from forge_bot.bot.comments.next_step import pull_request_link
from forge_bot.bot.comments.run_view import RunView
from forge_bot.engine.phase_rows import Row, rows
from forge_bot.engine.phases import (
    DecisionPhase,
    EndPhase,
    PublishPhase,
    SetupPhase,
    TaskReviewPhase,
    TasksPhase,
    VerifyPhase,
)
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import limited
from forge_bot.interaction.number_format import head, may_be_billed, money, row, tokens
from forge_bot.interaction.run_facts import decided, verdict_words
from forge_bot.prompts import escape
from forge_bot.sentences import listed, say
from forge_bot.values import PhaseId

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
    label = view.label(entry.phase)
    now = entry.standing in {"current", "waiting"}
    paid = money(entry.usage.cost) if priced else tokens(entry.usage)
    mark = "⏹️" if now and view.state.ended else _MARKS[entry.standing]
    # Three columns, since a telephone has no room for more.
    return row(
        f"{mark} **{label}**" if now else f"{mark} {label}",
        " · ".join(_results(view, entry)),
        paid if entry.usage.calls else "",
    )


def _total(view: RunView, *, priced: bool) -> str:
    usage = view.state.usage
    calls = say("words.model_calls", count=usage.calls)
    used = say("words.tokens", tokens=usage.tokens)
    made = (f"{calls}, {used}" if priced else calls) if usage.calls else ""
    return row(
        f"**{say('progress.phases.together')}**",
        " · ".join(filter(None, (made, escape.cell(may_be_billed(usage))))),
        f"**{money(usage.cost) if priced else tokens(usage)}**",
    )


def _results(view: RunView, entry: Row) -> list[str]:
    """Return the cells of Markdown: decisions of people, findings of reviewers and commands, and
    the documents.
    """
    words = _outcome(view, entry.phase)
    return [*([words] if words else []), *_documents(view, entry.phase)]


def _outcome(view: RunView, phase_id: PhaseId) -> str:
    state = view.state
    match view.pipeline.phase(phase_id):
        case TasksPhase() if state.tasks:
            settled = sum(task.settled for task in state.tasks)
            return say("progress.phases.tasks", settled=settled, count=len(state.tasks))
        case TaskReviewPhase() if state.tasks:
            passed = sum(task.verdict is not None and task.verdict.positive for task in state.tasks)
            return say("progress.phases.passed", passed=passed)
        case VerifyPhase() if state.verification is not None:
            return _verified(view)
        case PublishPhase(operation="pull-request") if state.pull_request:
            return pull_request_link(view)
        case DecisionPhase():
            reason = state.gate.reason if state.gate is not None else None
            return reason.value.replace("_", " ") if reason is not None else ""
        case _:
            return _judged(view, phase_id)


def _judged(view: RunView, phase_id: PhaseId) -> str:
    decision = next(
        (decision for decision in reversed(view.state.decisions) if decision.gate == phase_id), None
    )
    if decision is not None:
        return f"{decided(decision)}, {escape.code(short(decision.digest))}"
    record = next(
        (record for record in view.state.artifacts.values() if record.phase == phase_id), None
    )
    verdict = verdict_words(record.verdict if record is not None else None)
    rounds = (
        say("progress.phases.round", round=record.round)
        if record is not None and record.round > 1
        else ""
    )
    return ", ".join(part for part in (verdict, rounds) if part)


def _verified(view: RunView) -> str:
    verification = view.state.verification
    if verification is None or not verification.results:
        return say("progress.phases.nothing_to_run")
    if not verification.red:
        return say("words.green")
    return (
        say("progress.phases.red_accepted") if verification.accepted else say("progress.phases.red")
    )


def _documents(view: RunView, phase_id: PhaseId) -> list[str]:
    phase = view.pipeline.phase(phase_id)
    if isinstance(phase, SetupPhase):
        return [view.links.named(phase.writes)]
    names = [name for name, record in view.state.artifacts.items() if record.phase == phase_id]
    return [view.links.named(name) for name in names] if len(names) <= _MOST_DOCUMENTS else []
