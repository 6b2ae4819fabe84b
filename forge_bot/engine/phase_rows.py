"""Turn a state into the rows that people see: each phase with its status and its cost."""

from typing import Literal

from forge_bot.engine.gates import UNASKED
from forge_bot.engine.phases import DecisionPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import State, TaskStatus
from forge_bot.engine.transitions import is_left_out
from forge_bot.values import Frozen, PhaseId, Usage

Standing = Literal["done", "current", "waiting", "skipped", "open"]


class Row(Frozen):
    """One phase, or one task below the implementation."""

    phase: PhaseId
    label: str
    standing: Standing
    usage: Usage
    note: str = ""


def rows(pipeline: Pipeline, state: State) -> tuple[Row, ...]:
    """Return the phases in the order of the run.

    The exceptional gate is included only while it is open.
    """
    shown: list[Row] = []
    for phase in pipeline.phases:
        if isinstance(phase, DecisionPhase):
            continue
        usage = sum(
            (
                entry.usage
                for entry in state.log
                if entry.phase == phase.id and entry.usage is not None
            ),
            Usage(),
        )
        standing = _standing(pipeline, state, phase.id)
        shown.append(
            Row(
                phase=phase.id,
                label=phase.label,
                standing=standing,
                usage=usage,
                note=_note(pipeline, state, phase.id),
            )
        )
    if state.gate is not None and state.gate.name == pipeline.decision.id:
        shown.append(
            Row(
                phase=pipeline.decision.id,
                label=pipeline.decision.label,
                standing="waiting",
                usage=Usage(),
                note=_why(state),
            )
        )
    return tuple(shown)


def _standing(pipeline: Pipeline, state: State, phase: PhaseId) -> Standing:
    if phase in state.completed_phases:
        return "done"
    if phase == state.current_phase:
        waits = state.gate is not None and state.gate.name == phase
        return "waiting" if waits else "current"
    return "skipped" if is_left_out(pipeline, state, pipeline.phase(phase)) else "open"


def _note(pipeline: Pipeline, state: State, phase: PhaseId) -> str:
    if pipeline.implements(phase) and state.tasks:
        settled = sum(
            task.status in {TaskStatus.PASSED, TaskStatus.SKIPPED} for task in state.tasks
        )
        return f"{settled} of {len(state.tasks)} task{'s' if len(state.tasks) > 1 else ''}"
    decision = next(
        (decision for decision in reversed(state.decisions) if decision.gate == phase), None
    )
    if decision is not None:
        who = ", nobody was asked" if decision.via == UNASKED else f" by {decision.by}"
        return f"{decision.answer}{who}"
    records = [
        record
        for record in state.artifacts.values()
        if record.phase == phase and record.verdict is not None
    ]
    return records[-1].verdict.value if records and records[-1].verdict is not None else ""


def _why(state: State) -> str:
    reason = state.gate.reason if state.gate is not None else None
    return reason.value.replace("_", " ") if reason is not None else ""
