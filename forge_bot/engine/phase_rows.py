"""Turn a state into the rows that people see: each phase with its status and its cost."""

from collections.abc import Sequence
from typing import Literal

from forge_bot.engine.gates import UNASKED
from forge_bot.engine.phases import DecisionPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.state import LogEntry, State, TaskStatus
from forge_bot.engine.transitions import is_left_out
from forge_bot.values import Frozen, PhaseId, TaskId, Usage

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


def in_task_order(log: Sequence[LogEntry], tasks: Sequence[TaskId]) -> list[LogEntry]:
    """Return the log with the lines of each wave in the order of its tasks.

    A wave is a sequence of lines of one phase in which no task occurs twice. Its tasks are reported
    in another order if the model could not be reached for one of them, or if a client reports tasks
    as they end.
    """
    ordered: list[LogEntry] = []
    wave: list[LogEntry] = []
    places = {task: place for place, task in enumerate(tasks)}

    def end_wave() -> None:
        ordered.extend(
            sorted(wave, key=lambda entry: places.get(entry.task or TaskId(""), len(places)))
        )
        wave.clear()

    for entry in log:
        if entry.task is None or any(
            other.phase != entry.phase or other.task == entry.task for other in wave
        ):
            end_wave()
        if entry.task is None:
            ordered.append(entry)
        else:
            wave.append(entry)
    end_wave()
    return ordered
