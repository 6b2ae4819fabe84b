"""The descriptor of a pipeline: its phases (`phases.py`) in order, and questions about them.

The root is a union. A pipeline of `kind: steps` is made into phases before a run begins
(`step_phases.py`), so that the machine has one kind of run.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Literal, Self, cast

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic.json_schema import SkipJsonSchema

from forge_bot.engine.phases import (
    DRAFT,
    AgentPhase,
    AnsweringPhase,
    AnyPhase,
    DecisionPhase,
    GatePhase,
    PullRequestPart,
    ReviewPhase,
    RoundLimits,
    SetupPhase,
    StepPhase,
    TaskReviewPhase,
    TasksPhase,
)
from forge_bot.engine.steps import StepPipeline
from forge_bot.values import Effort, Frozen, PhaseId, Verdict

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
    """Return the problems of inputs, of phases that are sent back to, and of verdicts."""
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
        if isinstance(phase, AgentPhase | StepPhase):
            agents.add(phase.id)
        if isinstance(phase, AgentPhase) and phase.drafts:
            written.add(DRAFT)
        if isinstance(phase, SetupPhase | AnsweringPhase | StepPhase):
            written.add(_plain(phase.writes))
    return problems


def _judges(verdicts: tuple[Verdict, ...]) -> bool:
    readable = set(verdicts) - {Verdict.UNREADABLE}
    return {verdict.positive for verdict in readable} == {True, False}


def _plain(name: str) -> str:
    return name.replace("{each}", "{task}")


class Pipeline(Frozen):
    """A pipeline of phases. The order of the list is the order of the run."""

    kind: Literal["phases"]
    id: str
    title: str
    flows: dict[Effort, str]
    limits: RoundLimits = RoundLimits()
    phases: tuple[AnyPhase, ...]
    steps: SkipJsonSchema[StepPipeline | None] = Field(
        default=None, description="the pipeline of steps that the phases were made from"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = structure_problems(self.phases, self.flows) if self.steps is None else []
        if problems := [*problems, *reference_problems(self.phases)]:
            raise ValueError("; ".join(problems))
        return self

    def __hash__(self) -> int:
        # Its dictionaries cannot be hashed; few pipelines share an id.
        return hash(self.id)

    def phase(self, phase_id: PhaseId) -> AnyPhase:
        """Return the phase with that id. Raises KeyError if there is none."""
        for phase in self.phases:
            if phase.id == phase_id:
                return phase
        raise KeyError(phase_id)

    def position(self, phase_id: PhaseId) -> int:
        """Return the position of the phase in the run. Raises KeyError if there is none."""
        return self.phases.index(self.phase(phase_id))

    def in_batches(self, phase: PhaseId, *, batch: bool) -> bool:
        """Return whether the model of a phase is asked in batches; with `batch` any is."""
        asked = self.phase(phase)
        return batch or (isinstance(asked, AnsweringPhase) and asked.batch)

    def skipped(self, effort: Effort, *, auto: bool) -> tuple[PhaseId, ...]:
        """Return the phases that the effort leaves out."""
        return tuple(
            phase.id
            for phase in self.phases
            if effort in phase.skip
            and not (auto and isinstance(phase, ReviewPhase) and phase.restored_by_auto)
        )

    def also_written(self, phase_id: PhaseId, effort: Effort) -> tuple[AgentPhase, ...]:
        """Return the later phases whose documents the agent of a phase may write with its own."""
        phase = self.phase(phase_id)
        variant = phase.variants.get(effort) if isinstance(phase, AgentPhase) else None
        later = variant.also_writes if variant is not None else ()
        agents = (agent for agent in self.phases if isinstance(agent, AgentPhase))
        return tuple(agent for agent in agents if agent.id in later)

    def drafts(self, phase_id: PhaseId, effort: Effort) -> bool:
        """Return whether the agent of a phase may answer with the change that it designs."""
        phase = self.phase(phase_id)
        return isinstance(phase, AgentPhase) and effort in phase.drafts

    @property
    def agents(self) -> tuple[str, ...]:
        """Return the names of all agents, including those of variants, sorted."""
        variants = {
            variant.agent
            for phase in self.speaking
            if isinstance(phase, AgentPhase)
            for variant in phase.variants.values()
        }
        return tuple(sorted({phase.agent for phase in self.speaking} | variants))

    @property
    def speaking(self) -> tuple[AnsweringPhase, ...]:
        """Return the phases in which an agent answers with an artifact, in order."""
        return tuple(phase for phase in self.phases if isinstance(phase, AnsweringPhase))

    def caption(self, phase_id: PhaseId) -> str:
        """Return a short name for the document of a phase; empty if the phase has none."""
        phase = self.phase(phase_id)
        return phase.caption if isinstance(phase, AnsweringPhase) else ""

    def providing(self, part: PullRequestPart) -> tuple[AnsweringPhase, ...]:
        """Return the phases whose artifacts provide a part of the pull request, last one first."""
        return tuple(phase for phase in reversed(self.speaking) if phase.pull_request == part)

    def documents(self, part: PullRequestPart) -> tuple[str, ...]:
        """Return the artifacts that provide a part of the pull request, the last one first."""
        return tuple(phase.writes for phase in self.providing(part))

    @property
    def summary(self) -> str:
        """The document with the result of a run: the one marked as summary, else that of the last
        agent phase; "" without one.
        """
        written = [phase.writes for phase in reversed(self.phases) if isinstance(phase, AgentPhase)]
        return next(iter((*self.documents("summary"), *written)), "")

    @property
    def approved_first(self) -> AgentPhase | None:
        """The phase whose document is the first that a person approves: the one that the first gate
        sends back to.
        """
        gate = next((phase for phase in self.phases if isinstance(phase, GatePhase)), None)
        phase = self.phase(gate.sends_back_to) if gate is not None else None
        return phase if isinstance(phase, AgentPhase) else None

    @property
    def planned_in(self) -> str:
        """The document with the plan of the implementation: the one that a person approves first,
        or the request if nobody approves one.
        """
        plan, first = self.approved_first, self.phases[0]
        if plan is not None:
            return plan.writes
        return first.writes if isinstance(first, SetupPhase) else ""

    @property
    def reviews(self) -> tuple[ReviewPhase | TaskReviewPhase, ...]:
        """The phases whose documents are reviews, in order."""
        return tuple(
            phase for phase in self.phases if isinstance(phase, ReviewPhase | TaskReviewPhase)
        )

    def task_documents(self, task: str) -> tuple[str, ...]:
        """The documents about one task, in the order of their phases."""
        phases = [phase for phase in self.phases if isinstance(phase, TasksPhase | TaskReviewPhase)]
        return tuple(phase.writes.replace("{task}", task) for phase in phases)

    @property
    def task_lists(self) -> tuple[str, ...]:
        return tuple(
            phase.writes for phase in self.phases if isinstance(phase, AgentPhase) and phase.tasks
        )

    @property
    def decision(self) -> DecisionPhase:
        """Return the exceptional gate."""
        return next(phase for phase in self.phases if isinstance(phase, DecisionPhase))

    @property
    def implementation(self) -> TasksPhase:
        """Return the phase that implements the tasks. There is none in a pipeline of steps."""
        return next(phase for phase in self.phases if isinstance(phase, TasksPhase))

    def implements(self, phase_id: PhaseId) -> bool:
        return any(phase.id == phase_id for phase in self.phases if isinstance(phase, TasksPhase))

    @property
    def draft_review(self) -> ReviewPhase | None:
        """The phase that reviews a draft with the design, if there is one."""
        reviews = (phase for phase in self.phases if isinstance(phase, ReviewPhase))
        return next((phase for phase in reviews if phase.of_drafts), None)

    @property
    def task_review(self) -> TaskReviewPhase | None:
        return next((phase for phase in self.phases if isinstance(phase, TaskReviewPhase)), None)


def _descriptor_kind(value: object) -> str:
    """Return the kind of a descriptor; a file without one that has steps is a pipeline of steps."""
    kind: object = "steps" if isinstance(value, StepPipeline) else "phases"
    if isinstance(value, Mapping):
        given = cast("Mapping[str, object]", value)
        kind = given.get("kind", "steps" if "steps" in given else "phases")
    return f"of {kind}"


Descriptor = Annotated[
    # The tags are no keys of a file, so problems are reported without them.
    Annotated[Pipeline, Tag("of phases")] | Annotated[StepPipeline, Tag("of steps")],
    Discriminator(
        _descriptor_kind,
        custom_error_type="kind_of_pipeline",
        custom_error_message="kind is 'phases' or 'steps'",
    ),
]
