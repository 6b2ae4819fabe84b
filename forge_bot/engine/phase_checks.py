"""Checks that the phases of a pipeline fit together."""

from collections.abc import Collection
from typing import assert_never

from forge_bot.engine.phases import (
    AgentPhase,
    AnsweringPhase,
    AnyPhase,
    GatePhase,
    PublishPhase,
    ReviewPhase,
    SetupPhase,
    StepPhase,
    TaskReviewPhase,
    TasksPhase,
    VerifyPhase,
)
from forge_bot.values import Effort, Verdict

Phases = tuple[AnyPhase, ...]


def structure_problems(phases: Phases, flows: Collection[Effort]) -> list[str]:
    """Return the problems of the kinds of the phases, their order and their ids."""
    kinds = [phase.kind for phase in phases]
    ids = [phase.id for phase in phases]
    problems = [
        f"phase id {name!r} stands twice"
        for name in sorted({name for name in ids if ids.count(name) > 1})
    ]
    problems += [
        f"{phase.id}: steps belong into a pipeline of kind 'steps'"
        for phase in phases
        if isinstance(phase, StepPhase)
        or (isinstance(phase, PublishPhase) and phase.operation == "open-issues")
    ]
    problems += [
        f"there must be exactly one phase of kind {kind!r}, not {kinds.count(kind)}"
        for kind in ("setup", "tasks", "decision", "end")
        if kinds.count(kind) != 1
    ]
    if kinds.count("task-review") > 1:
        problems.append("there can be only one phase of kind 'task-review'")
    if not problems:
        if kinds[0] != "setup":
            problems.append("the first phase must be of kind 'setup'")
        if [kind for kind in kinds if kind != "decision"][-1] != "end":
            problems.append("the last phase must be of kind 'end'")
        if "task-review" in kinds and kinds.index("task-review") != kinds.index("tasks") + 1:
            problems.append("the phase of kind 'task-review' must follow the one of kind 'tasks'")
    problems += [f"flows must name {effort}" for effort in Effort if effort not in flows]
    return problems


def reference_problems(phases: Phases) -> list[str]:
    """Return the problems of the inputs of phases, of the phases that they send back to, and of
    their verdicts.
    """
    problems: list[str] = []
    written: set[str] = set()
    agents: set[str] = set()
    for phase in phases:
        wanted = (
            phase.reads
            if isinstance(phase, AnsweringPhase)
            else phase.shows
            if isinstance(phase, GatePhase)
            else ()
        )
        problems += [
            f"{phase.id} reads {name!r}, which no earlier phase writes"
            for name in wanted
            if _plain(name) not in written
        ]
        target = phase.sends_back_to if isinstance(phase, ReviewPhase | GatePhase) else None
        if target is not None and target not in agents:
            problems.append(
                f"{phase.id} sends back to {target!r}, which is no earlier phase of kind 'agent'"
            )
        if isinstance(phase, ReviewPhase) and (target is None) != phase.adds_task:
            problems.append(f"{phase.id} must either send back to a phase or add a task")
        if isinstance(phase, ReviewPhase | TaskReviewPhase) and not _judges(phase.verdicts):
            problems.append(f"{phase.id} needs at least one positive and one negative verdict")
        if isinstance(phase, TasksPhase | TaskReviewPhase):
            problems += [
                f"{phase.id}: only_for_parts names {name!r}, which is none of its headings"
                for name in phase.only_for_parts
                if name not in phase.headings
            ]
        if (problem := _misplaced(phase)) is not None:
            problems.append(problem)
        problems += _also_written(phases, phase)
        if isinstance(phase, AgentPhase | StepPhase):
            agents.add(phase.id)
        if isinstance(phase, SetupPhase | AnsweringPhase | StepPhase):
            written.add(_plain(phase.writes))
    return problems


def _also_written(phases: Phases, phase: AnyPhase) -> list[str]:
    """Return the problems of the documents that an agent may write besides its own."""
    behind = phases[phases.index(phase) + 1 :]
    taken = {
        each.id
        for each in behind
        if isinstance(each, AgentPhase) and each.by_process_when == "already-written"
    }
    variants = phase.variants.values() if isinstance(phase, AgentPhase) else ()
    return [
        f"{phase.id} also writes for {each.also_writes!r}, which is no later phase of kind 'agent'"
        " with by_process_when: already-written"
        for each in variants
        if each.also_writes is not None and each.also_writes not in taken
    ]


def _misplaced(phase: AnyPhase) -> str | None:
    """Return the problems of the condition under which forge-bot writes the document."""
    if not isinstance(phase, AnsweringPhase):
        return None
    match phase.by_process_when:
        case None:
            return None
        case "already-written":
            fits = isinstance(phase, AgentPhase) and not phase.tasks
        case "design-has-tasks":
            fits = isinstance(phase, AgentPhase) and phase.tasks
        case "one-task-reviewed":
            fits = isinstance(phase, ReviewPhase) and phase.adds_task
        case "verification-green":
            fits = isinstance(phase, VerifyPhase)
        case "nothing-went-back":
            fits = isinstance(phase, AgentPhase) and not phase.tasks
        case _:
            assert_never(phase.by_process_when)
    return None if fits else f"{phase.id} cannot have by_process_when: {phase.by_process_when}"


def _judges(verdicts: tuple[Verdict, ...]) -> bool:
    readable = [verdict for verdict in verdicts if verdict is not Verdict.UNREADABLE]
    return any(verdict.positive for verdict in readable) and any(
        not verdict.positive for verdict in readable
    )


def _plain(name: str) -> str:
    return name.replace("{each}", "{task}")
