"""Calls of tools that may change something: recorded before they are made, never made twice.

    asked for ──► waiting ──► cleared ──► begun ──► done, failed or unknown
                     └──► declined

A call that the configuration allows is cleared at once. An unknown outcome is asked about.
"""

from collections.abc import Sequence
from itertools import count

from forge_bot.engine.reports import CallBegun, CallEnded, CallsRequested, RequestedCall
from forge_bot.engine.state import ArtifactRecord, CallRecord, CallStatus, OpenGate, State
from forge_bot.errors import WrongReport
from forge_bot.values import PhaseId, TaskId

_OPEN = frozenset({CallStatus.CLEARED, CallStatus.BEGUN})


def outstanding_call(state: State) -> CallRecord | None:
    """Return the next call to make, or the one that was begun; none while a wave is still out."""
    if state.wave is not None and state.wave.remaining:
        return None
    return next((call for call in state.calls if call.status in _OPEN), None)


def subject(calls: Sequence[RequestedCall]) -> str:
    return "; ".join(f"{call.capability} {call.params[:200]}" for call in calls)


def next_document(state: State, kind: str) -> str:
    """Return a name for a document of calls that none had before, also not before a retry."""
    used = {*state.artifacts, *(call.artifact for call in state.calls)}
    return next(name for n in count(1) if (name := f"{kind}{n}.json") not in used)


def requested(state: State, report: CallsRequested) -> State:
    """Return the state with new calls; the agent's turn counts as a round of its own."""
    place = report.phase if report.task is None else f"{report.phase}/{report.task}"
    state = state.with_visit(place)
    status = CallStatus.WAITING if report.asks else CallStatus.CLEARED
    calls = tuple(
        CallRecord(
            **dict(call),
            artifact=report.artifact,
            index=index,
            phase=report.phase,
            task=report.task,
            status=status,
        )
        for index, call in enumerate(report.calls)
    )
    shown = ArtifactRecord(blob=report.blob, phase=report.phase, round=state.visits[place])
    state = state.replace(calls=(*state.calls, *calls))
    return state.with_document(report.artifact, shown)


def begun(state: State, report: CallBegun) -> State:
    """Return the state in which a call is under way. Raises WrongReport."""
    call = of(state, report)
    if call.status is not CallStatus.CLEARED:
        raise WrongReport(f"Call {report.index + 1} of {report.artifact} is not to be made.")
    return _changed(state, [call], status=CallStatus.BEGUN)


def ended(state: State, report: CallEnded) -> State:
    """Return the state after a call, with the document of its result. Raises WrongReport."""
    call = of(state, report)
    if call.status is not CallStatus.BEGUN:
        raise WrongReport(f"Call {report.index + 1} of {report.artifact} is not under way.")
    record = ArtifactRecord(blob=report.blob, phase=call.phase, round=1)
    after = _changed(state, [call], status=CallStatus(report.outcome), result=report.result)
    return after.with_document(report.result, record)


def of(state: State, report: CallBegun | CallEnded) -> CallRecord:
    """Return the call that a report is about. Raises WrongReport."""
    for call in state.calls:
        if (call.artifact, call.index) == (report.artifact, report.index):
            return call
    raise WrongReport(f"{report.artifact} has no call {report.index + 1}.")


def settled(state: State, artifact: str, status: CallStatus, by: str) -> State:
    """Return the state after a person's answer to the calls of a document that wait."""
    waiting = [
        call
        for call in state.calls
        if call.artifact == artifact and call.status is CallStatus.WAITING
    ]
    return _changed(state, waiting, status=status, by=by)


def without_unknown(state: State, artifact: str) -> State:
    """Return the state without the call of unknown outcome: asked for again, it is a new one."""
    return state.replace(
        calls=tuple(
            call
            for call in state.calls
            if call.artifact != artifact or call.status is not CallStatus.UNKNOWN
        )
    )


def place(state: State, gate: OpenGate) -> tuple[PhaseId, TaskId | None]:
    """Return the phase, and the task, whose agent asked for the calls of a question."""
    call = next(call for call in state.calls if call.artifact == gate.files[0].name)
    return call.phase, call.task


def _changed(state: State, changed: Sequence[CallRecord], **update: object) -> State:
    calls = (call.replace(**update) if call in changed else call for call in state.calls)
    return state.replace(calls=tuple(calls))
