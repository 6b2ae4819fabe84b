"""The descriptor of a pipeline. One record holds everything about one phase.

The root is a union. A pipeline of `kind: steps` is made into phases before a run begins
(`step_phases.py`), so that the machine has one kind of run.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, assert_never, cast

from pydantic import Discriminator, Field, Tag, model_validator

from forge_bot.engine.steps import Step, StepPipeline
from forge_bot.values import Effort, Frozen, PhaseId, Tier, Verdict

LOOKING_AROUND = ("read_file", "search_code", "list_files", "git_log", "git_diff", "past_runs")
FROM_OUTSIDE = ("mcp_*", "skill_*")
"""The tools and skills that a repository configures, if it does."""


Recalled = Literal["similar", "patterns", "friction"]
"""Kinds of memory of past runs.

They are similar runs, findings that reviewers repeat, and points where earlier runs got stuck.
"""

PullRequestPart = Literal["summary", "approach", "requirements"]

ProcessCondition = Literal[
    "already-written",
    "design-has-tasks",
    "one-task-reviewed",
    "verification-green",
    "nothing-went-back",
]
"""Conditions under which our own process writes a document, and no model is asked."""


class RoundLimits(Frozen):
    """The number of attempts before a person decides."""

    artifact_attempts: int = Field(
        default=2,
        ge=1,
        description="answers without the required headings, or without a readable verdict",
    )
    failure_attempts: int = Field(
        default=2, ge=1, description="agents that ended without an answer"
    )
    parallel_tasks: int = Field(default=4, ge=1, le=16, description="tasks in one wave")


class Phase(Frozen):
    """The fields that all phases have."""

    id: PhaseId
    label: str
    skip: tuple[Effort, ...] = Field(default=(), description="efforts that leave this phase out")


class SetupPhase(Phase):
    """Prepares the work tree and runs the project's commands once, before any model is asked."""

    kind: Literal["setup"]
    writes: str


class Variant(Frozen):
    """Another agent for one effort, with its own headings."""

    agent: str
    headings: tuple[str, ...]
    tier: Tier | None = Field(default=None, description="if not the one of the phase")
    also_writes: PhaseId | None = Field(
        default=None,
        description=(
            "a later phase whose document the agent may write in the same answer, below its own"
        ),
    )


class AnsweringPhase(Phase):
    """A phase in which an agent answers with an artifact."""

    agent: str
    tier: Tier = Tier.STANDARD
    batch: bool = Field(
        default=False,
        description="the model is asked in its provider's batches: within a day, at half the price",
    )
    reads: tuple[str, ...] = ()
    writes: str
    headings: tuple[str, ...] = ()
    changes: Literal["none", "task", "run", "names"] = Field(
        default="none", description="the diff the agent is shown from the start"
    )
    providers: tuple[str, ...] = Field(
        default=(*LOOKING_AROUND, *FROM_OUTSIDE),
        description="what the agent may ask for, by name; `*` stands for any characters",
    )
    recalls: tuple[Recalled, ...] = Field(
        default=(), description="what the agent is told of past runs"
    )
    caption: str = Field(
        default="", description="the document in a few words, as comments introduce it"
    )
    pull_request: PullRequestPart | None = Field(
        default=None, description="the part of the pull request that the document provides"
    )
    follows_rules: bool = Field(
        default=False, description="the agent is told the standing rules on tasks"
    )
    by_process_when: ProcessCondition | None = Field(
        default=None, description="when our own process writes the document from what it knows"
    )
    carries: tuple[str, ...] = Field(
        default=(),
        description="sections that the report carries, for documents of our own process",
    )
    closing: tuple[str, ...] = Field(
        default=(),
        description="sections that the last review is asked for besides, and may leave out",
    )


class AgentPhase(AnsweringPhase):
    """A phase in which an agent writes a document."""

    kind: Literal["agent"]
    variants: dict[Effort, Variant] = Field(default_factory=dict[Effort, Variant])
    tasks: bool = Field(default=False, description="the artifact is the task list")
    stand_in: Literal["one-task"] | None = Field(
        default=None, description="what is written when the phase is left out"
    )
    debug_headings: tuple[str, ...] = Field(
        default=(), description="headings asked for with --debug only"
    )
    names_files: bool = Field(
        default=False, description="agents that read the document are shown the files that it names"
    )
    shows_risks: bool = Field(
        default=False,
        description="signs of risk in the document are shown to the person at the next question",
    )
    instruction: str = Field(
        default="", description="what the agent is to write, where its template does not say it"
    )
    may_end_run: bool = Field(
        default=False,
        description="the document may say that nothing is to be done; a person is asked",
    )


class ReviewPhase(AnsweringPhase):
    """A phase in which an agent reviews.

    A negative verdict sends back to a phase or adds a task.
    """

    kind: Literal["review"]
    verdicts: tuple[Verdict, ...]
    rounds: int = Field(
        default=2, ge=1, description="negative verdicts that are worked off without asking a person"
    )
    sends_back_to: PhaseId | None = None
    adds_task: bool = False
    restored_by_auto: bool = Field(
        default=False, description="--auto brings the phase back where an effort leaves it out"
    )


class GatePhase(Phase):
    """A phase in which a person decides."""

    kind: Literal["gate"]
    shows: tuple[str, ...]
    sends_back_to: PhaseId


class TasksPhase(AnsweringPhase):
    """A phase in which an agent implements each task."""

    kind: Literal["tasks"]


class TaskReviewPhase(AnsweringPhase):
    """A phase in which an agent reviews each implemented task."""

    kind: Literal["task-review"]
    verdicts: tuple[Verdict, ...]
    rounds: int = Field(default=2, ge=1)


class VerifyPhase(AnsweringPhase):
    """Runs the project's commands in our own process; then an agent explains their results."""

    kind: Literal["verify"]
    rounds: int = Field(
        default=2, ge=0, description="red results that are worked off without asking a person"
    )


class StepPhase(Phase):
    """A phase in which our own process carries out a step, or writes what a person is asked."""

    kind: Literal["step"]
    step: Step
    asks: bool = Field(default=False, description="it writes the question before the step")
    writes: str


class PublishPhase(Phase):
    """A phase in which the host makes something visible outside the run."""

    kind: Literal["publish"]
    operation: Literal["open-issues", "pull-request", "post-to-source", "final-commit"]
    reads: str = Field(
        default="", description="of `open-issues`: the document with them; made by a step"
    )
    skip_when: Literal["no-pull-request", "no-source"] | None = None


class EndPhase(Phase):
    """The end of the run."""

    kind: Literal["end"]


class DecisionPhase(Phase):
    """The one exceptional gate. It can be entered from any phase."""

    kind: Literal["decision"]


AnyPhase = Annotated[
    SetupPhase
    | AgentPhase
    | ReviewPhase
    | GatePhase
    | TasksPhase
    | TaskReviewPhase
    | VerifyPhase
    | StepPhase
    | PublishPhase
    | EndPhase
    | DecisionPhase,
    Field(discriminator="kind"),
]


class Pipeline(Frozen):
    """A pipeline of phases. The order of the list is the order of the run."""

    kind: Literal["phases"]
    id: str
    title: str
    flows: dict[Effort, str]
    limits: RoundLimits = RoundLimits()
    phases: tuple[AnyPhase, ...]
    steps: StepPipeline | None = Field(
        default=None, description="the pipeline of steps that the phases were made from"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if problems := [*_structure(self), *_references(self)]:
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
        for position, phase in enumerate(self.phases):
            if phase.id == phase_id:
                return position
        raise KeyError(phase_id)

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

    def also_written(self, phase_id: PhaseId, effort: Effort) -> AgentPhase | None:
        """Return the later phase whose document the agent of a phase may write with its own."""
        phase = self.phase(phase_id)
        variant = phase.variants.get(effort) if isinstance(phase, AgentPhase) else None
        if variant is None or variant.also_writes is None:
            return None
        later = self.phase(variant.also_writes)
        return later if isinstance(later, AgentPhase) else None

    def by_model(self) -> "Pipeline":
        """Return this pipeline with every document written by a model."""
        plain = {"by_process_when": None, "closing": ()}
        phases = tuple(
            phase.model_copy(update=plain) if isinstance(phase, AnsweringPhase) else phase
            for phase in self.phases
        )
        return self.model_copy(update={"phases": tuple(map(_alone, phases))})

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
        agent phase; "" if there is none.
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
        """Return the artifacts that hold the tasks."""
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
        """Return whether the tasks are implemented in that phase."""
        return any(phase.id == phase_id for phase in self.phases if isinstance(phase, TasksPhase))

    @property
    def task_review(self) -> TaskReviewPhase | None:
        """Return the phase that reviews each task, if the pipeline has one."""
        return next((phase for phase in self.phases if isinstance(phase, TaskReviewPhase)), None)


def _descriptor_kind(value: object) -> str:
    """Return the kind of a descriptor; a file without one that has steps is a pipeline of steps."""
    kind: object = "steps" if isinstance(value, StepPipeline) else "phases"
    if isinstance(value, Mapping):
        given = cast("Mapping[str, object]", value)
        kind = given.get("kind", "steps" if "steps" in given else "phases")
    return f"of {kind}"


Descriptor = Annotated[
    # The tags are no keys of a file: problems are told without them.
    Annotated[Pipeline, Tag("of phases")] | Annotated[StepPipeline, Tag("of steps")],
    Discriminator(
        _descriptor_kind,
        custom_error_type="kind_of_pipeline",
        custom_error_message="kind is 'phases' or 'steps'",
    ),
]


def _alone(phase: AnyPhase) -> AnyPhase:
    """Return a phase whose agents write no document but their own."""
    if not isinstance(phase, AgentPhase):
        return phase
    alone = {"also_writes": None}
    variants = {effort: each.model_copy(update=alone) for effort, each in phase.variants.items()}
    return phase.model_copy(update={"variants": variants})


def _structure(pipeline: Pipeline) -> list[str]:
    if pipeline.steps is not None:
        return []
    kinds = [phase.kind for phase in pipeline.phases]
    ids = [phase.id for phase in pipeline.phases]
    problems = [
        f"phase id {name!r} stands twice"
        for name in sorted({name for name in ids if ids.count(name) > 1})
    ]
    problems += [
        f"{phase.id}: steps belong into a pipeline of kind 'steps'"
        for phase in pipeline.phases
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
    problems += [f"flows must name {effort}" for effort in Effort if effort not in pipeline.flows]
    return problems


def _references(pipeline: Pipeline) -> list[str]:
    problems: list[str] = []
    written: set[str] = set()
    agents: set[str] = set()
    for phase in pipeline.phases:
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
        if (problem := _misplaced(phase)) is not None:
            problems.append(problem)
        problems += _also_written(pipeline, phase)
        if isinstance(phase, AgentPhase | StepPhase):
            agents.add(phase.id)
        if isinstance(phase, SetupPhase | AnsweringPhase | StepPhase):
            written.add(_plain(phase.writes))
    return problems


def _also_written(pipeline: Pipeline, phase: AnyPhase) -> list[str]:
    """Return what is wrong with the documents that an agent may write beside its own."""
    behind = pipeline.phases[pipeline.position(phase.id) + 1 :]
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
    """Return what is wrong with the condition under which our process writes the document."""
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
