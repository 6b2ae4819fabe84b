"""Turn a state into the rows that people see: each phase with its status and its cost."""

from typing import Literal

from forge_bot.engine.gates import UNASKED
from forge_bot.engine.phases import DecisionPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import State
from forge_bot.engine.transitions import is_left_out
from forge_bot.text_format import several
from forge_bot.values import Frozen, PhaseId, Usage

Standing = Literal["done", "current", "waiting", "skipped", "open"]


class Row(Frozen):
    """One phase, or one task below the implementation."""

    phase: PhaseId
    label: str
    standing: Standing
    usage: Usage = Usage()
    note: str = ""


def rows(pipeline: Pipeline, state: State) -> tuple[Row, ...]:
    """Return the phases in the order of the run.

    The exceptional gate is included only while it is open.
    """
    shown = [
        Row(
            phase=phase.id,
            label=phase.label,
            standing=_standing(pipeline, state, phase.id),
            usage=sum(
                (one.usage for one in state.log if one.phase == phase.id and one.usage), Usage()
            ),
            note=_note(pipeline, state, phase.id),
        )
        for phase in pipeline.phases
        if not isinstance(phase, DecisionPhase)
    ]
    gate, decision = state.gate, pipeline.decision
    if gate is not None and gate.name == decision.id:
        why = gate.reason.value.replace("_", " ") if gate.reason is not None else ""
        shown.append(Row(phase=decision.id, label=decision.label, standing="waiting", note=why))
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
        settled = sum(task.settled for task in state.tasks)
        return f"{settled} of {several(len(state.tasks), 'task')}"
    decision = next(
        (decision for decision in reversed(state.decisions) if decision.gate == phase), None
    )
    if decision is not None:
        who = ", nobody was asked" if decision.via == UNASKED else f" by {decision.by}"
        return f"{decision.answer}{who}"
    records = [record for record in state.artifacts.values() if record.phase == phase]
    verdicts = [record.verdict.value for record in records if record.verdict is not None]
    return verdicts[-1] if verdicts else ""
