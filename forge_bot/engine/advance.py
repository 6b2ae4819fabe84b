"""Apply a report to a state: (pipeline, state, report) → the next state.

A typed error leaves the state as it was.
"""

from collections.abc import Iterable
from decimal import Decimal

from forge_bot.engine import external_events, gate_answers, handle_report
from forge_bot.engine.budget import Budget
from forge_bot.engine.capability_uses import summed
from forge_bot.engine.gates import refresh
from forge_bot.engine.outcomes import facts_of
from forge_bot.engine.phases import DRAFT, AgentPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import (
    Abandoned,
    AgentReport,
    Answered,
    ApprovalDoubted,
    ArtifactChanged,
    Asked,
    BudgetRaised,
    CallBegun,
    CostingReport,
    EffortChanged,
    ExternalEvent,
    FollowUpAsked,
    GateShown,
    Paused,
    PeopleCommitted,
    Report,
    RequestRefreshed,
    RetryAsked,
    RunDescription,
    RunStarted,
    WorkReport,
)
from forge_bot.engine.state import ArtifactRecord, Reason, Showing, State, TaskState, TaskStatus
from forge_bot.errors import NoGateOpen, ReportRejected, RunEnded, StaleApproval
from forge_bot.values import RunStatus, Usage


def start(pipeline: Pipeline, report: RunStarted) -> State:
    first = pipeline.phases[0]
    skipped = pipeline.skipped(report.effort, auto=report.flags.auto)
    state = State(
        **{name: getattr(report, name) for name in RunDescription.model_fields},
        flow_template=pipeline.flows[report.effort],
        pull_request_branch=report.merge_branch,
        started_at=report.at,
        updated_at=report.at,
        current_phase=first.id,
        skipped_phases=skipped,
        budget=Budget(cap=report.budget, token_cap=report.budget_tokens),
        first_cap=report.budget,
        first_token_cap=report.budget_tokens,
        artifacts={"request.md": ArtifactRecord(blob=report.request_blob, phase=first.id, round=1)},
        seen=frozenset({report.key}),
    )
    event = f"started at effort {report.effort}: {report.effort_reason}"
    return state.logged(report.at, first.id, event)


def fold(pipeline: Pipeline, reports: Iterable[Report]) -> State:
    """Return the state that results from a list of reports. The first report must start the run."""
    ordered = iter(reports)
    first = next(ordered, None)
    if not isinstance(first, RunStarted):
        raise ReportRejected("The first report of a run must be the one that starts it.")
    state = start(pipeline, first)
    for report in ordered:
        state = advance(pipeline, state, report)
    return state


def advance(pipeline: Pipeline, state: State, report: Report) -> State:
    """Return the state after a report. A report with a known idempotency key changes nothing."""
    if report.key in state.seen:
        return state
    reopened = (
        isinstance(report, RetryAsked | FollowUpAsked)
        and state.current_phase_status is RunStatus.COMPLETED
    )
    # A question about a run that is over costs money too. It changes nothing else.
    if state.ended and not reopened and not isinstance(report, Asked):
        raise RunEnded(f"The run is over: {state.current_phase_status.value}.")
    after = _after(pipeline, state, report)
    return after.replace(updated_at=report.at, seen=state.seen | {report.key})


def _after(pipeline: Pipeline, state: State, report: Report) -> State:
    if isinstance(report, WorkReport):
        return _add_work(pipeline, state, report)
    if isinstance(report, ExternalEvent):
        return _from_outside(pipeline, state, report)
    match report:
        case RunStarted():
            raise ReportRejected("The run has started already.")
        case Answered():
            after = gate_answers.handle_answer(pipeline, state, report)
            event = f"{report.answer.value} by {report.by} via {report.via}"
            moved = after if report.awaits_others else _move(after)
            return moved.logged(report.at, report.gate, event)
        case GateShown():
            return _show_output(state, report)
        case ArtifactChanged():
            return _change_pipeline(pipeline, state, report)
        case RetryAsked():
            after = _move(external_events.handle_retry(pipeline, state, report))
            event = f"retry asked by {report.by} via {report.via}"
            return after.logged(report.at, report.phase, event)
        case BudgetRaised():
            more = f"${report.amount}" if report.tokens is None else f"{report.tokens:,} tokens"
            event = f"budget raised by {report.by}: +{more}"
            raised = _raise_budget(pipeline, state, report)
            after = raised.logged(report.at, state.current_phase, event)
            asked = state.gate is not None and state.gate.reason is Reason.BUDGET
            return _move(after) if asked else after
        case Asked():
            # The log omits the words of the question: agents are shown this log, and a question to
            # one model is no instruction to the others.
            event = f"question asked by {report.by} via {report.via}"
            paid = _spent(state, report.usage)
            return paid.logged(report.at, report.phase, event, usage=report.usage)
        case Paused():
            until = f" until {report.until:%Y-%m-%d %H:%M} UTC" if report.until else ""
            event = f"no model may be asked{until}: {report.why.value}"
            return state.replace(pause=report).logged(report.at, state.current_phase, event)
        case Abandoned():
            after = state.replace(current_phase_status=RunStatus.ABANDONED, gate=None, wave=None)
            event = f"abandoned by {report.by} via {report.via}"
            return _move(after).logged(report.at, state.current_phase, event)


def _add_work(pipeline: Pipeline, state: State, report: WorkReport) -> State:
    after, event = handle_report.handle_work_report(pipeline, state, report)
    phase, task = state.current_phase, None
    if isinstance(report, AgentReport):
        phase, task = report.phase, report.task
    usage = report.usage if isinstance(report, CostingReport) else None
    after = _spent(after, usage or Usage()).logged(report.at, phase, event, task, usage)
    after = after.replace(pause=None)
    if isinstance(report, CostingReport) and report.uses:
        after = after.replace(capabilities=summed(after.capabilities, report.uses))
    # The end of a call is reported on the action that began it.
    begun = isinstance(report, CallBegun)
    return after if begun or _still_out(state, after) else _move(after)


def _from_outside(pipeline: Pipeline, state: State, report: ExternalEvent) -> State:
    match report:
        case RequestRefreshed():
            after = external_events.apply_refresh(pipeline, state, report)
            event = f"request read again for {report.by} via {report.via}"
        case EffortChanged():
            after = external_events.apply_effort_change(pipeline, state, report)
            event = f"effort {report.effort} chosen by {report.by} via {report.via}"
        case ApprovalDoubted():
            after = external_events.apply_doubt(pipeline, state, report)
            event = f"{report.gate} asked again: {report.why}"
        case FollowUpAsked():
            after = external_events.apply_follow_up(pipeline, state, report)
            asked = f"more work asked by {report.by} via {report.via}"
            event = asked if report.by else f"checks failed: {', '.join(report.checks)}"
        case PeopleCommitted():
            after = external_events.apply_peoples_commits(pipeline, state, report)
            event = f"{report.count} of people's commits on {report.branch} merged"
            if after is state:
                # What is outstanding stays so.
                return after.logged(report.at, state.current_phase, event)
    return _move(after).logged(report.at, state.current_phase, event)


def _still_out(before: State, after: State) -> bool:
    """Return whether the same wave continues with fewer tasks.

    Its action is then still outstanding.
    """
    if before.wave is None or after.wave is None or before.wave.review != after.wave.review:
        return False
    return set(after.wave.remaining) < set(before.wave.remaining)


def _spent(state: State, usage: Usage) -> State:
    budget = state.budget.with_cost(usage.cost or Decimal(0), usage.tokens, usage.may_be_billed)
    return state.replace(usage=state.usage + usage, budget=budget)


def _move(state: State) -> State:
    return state.replace(step=state.step + 1)


def _show_output(state: State, report: GateShown) -> State:
    gate = state.gate
    if gate is None or gate.name != report.gate:
        raise NoGateOpen(f"{report.gate} was shown, but it is not open.")
    if gate.digest != report.digest:
        raise StaleApproval(
            f"What was shown is {report.digest[:12]}, but {gate.digest[:12]} waits."
        )
    showing = Showing(digest=report.digest, at=report.at, via=report.via)
    return state.replace(gate=gate.replace(shown=(*gate.shown, showing)))


def _change_pipeline(pipeline: Pipeline, state: State, report: ArtifactChanged) -> State:
    record = state.artifacts.get(report.artifact)
    if record is None:
        raise ReportRejected(f"{report.artifact} is no artifact of this run.")
    writers = {phase.writes: phase for phase in pipeline.phases if isinstance(phase, AgentPhase)}
    writer = writers.get(report.artifact)
    if report.inspection.fatal:
        raise ReportRejected(
            f"{report.artifact} was changed by hand and cannot be used:"
            f" {report.inspection.problems[0]}"
        )
    changed = record.replace(blob=report.blob, **facts_of(report.inspection))
    state = state.with_document(report.artifact, changed)
    if writer is not None and writer is pipeline.approved_first:
        state = _without_draft(state)
    if report.artifact == DRAFT:
        state = _with_unread_draft(pipeline, state)
    untouched = all(task.status is TaskStatus.PENDING and not task.origin for task in state.tasks)
    if writer is not None and writer.tasks and untouched and state.wave is None:
        state = state.replace(tasks=tuple(TaskState(spec=spec) for spec in report.inspection.tasks))
    who = report.by or "somebody"
    event = f"{report.artifact} was changed by {who}"
    return refresh(state.logged(report.at, record.phase, event))


def _with_unread_draft(pipeline: Pipeline, state: State) -> State:
    """Return the state with a draft that a person changed: its review does not count any more.
    Raises ReportRejected where no question shows the draft.
    """
    if state.gate is None or DRAFT not in {file.name for file in state.gate.files}:
        raise ReportRejected(
            f"{DRAFT} was changed, but no question shows it now.",
            hint="Restore it with git; what you want different belongs into a commit of yours.",
        )
    review = pipeline.draft_review
    record = state.artifacts.get(review.writes) if review is not None else None
    if review is None or record is None:
        return state
    return state.with_document(review.writes, record.replace(verdict=None))


def _without_draft(state: State) -> State:
    """Return the state without the draft, which follows the design as its author wrote it."""
    state, gate = state.without_document(DRAFT), state.gate
    if gate is None:
        return state
    files = tuple(file for file in gate.files if file.name != DRAFT)
    return state.replace(gate=gate.replace(files=files))


def _raise_budget(pipeline: Pipeline, state: State, report: BudgetRaised) -> State:
    budget = state.budget
    limits = {"US dollars": budget.cap is not None, "tokens": budget.token_cap is not None}
    unit = "tokens" if report.tokens is not None else "US dollars"
    if any(limits.values()) and not limits[unit]:
        counted = next(name for name, limited in limits.items() if limited)
        raise ReportRejected(
            f"The budget of this run does not count {unit}; it counts {counted}.",
            hint=f"Say how many more {counted} the run may use.",
        )
    state = state.replace(budget=budget.with_higher_cap(report.amount, report.tokens))
    if state.gate is None or state.gate.reason is not Reason.BUDGET:
        return state
    return gate_answers.continue_with_budget(pipeline, state, report.at)
