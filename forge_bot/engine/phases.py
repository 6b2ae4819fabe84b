"""The kinds of phases, each with the fields of its record in a pipeline."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from forge_bot.engine.steps import Step
from forge_bot.values import Effort, Frozen, PhaseId, Tier, Verdict

LOOKING_AROUND = ("read_file", "search_code", "list_files")
FROM_OUTSIDE = ("mcp_*", "skill_*")
"""The tools and skills that a repository configures, if it does."""

DRAFT = "draft.patch"
"""The document with the change that the author of a design drafted, for the approval of both."""


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
    "no-debug-report",
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


_ONLY_FOR_PARTS = (
    "headings that are asked for only where a task is a part of the approved document; a task that"
    " is all of it has nothing of its own to say there"
)


class SetupPhase(Phase):
    """Prepares the work tree and runs the project's commands once, before any model is asked."""

    kind: Literal["setup"]
    writes: str


class Variant(Frozen):
    """Another agent for one effort, with its own headings."""

    agent: str
    headings: tuple[str, ...]
    tier: Tier | None = Field(default=None, description="if not the one of the phase")
    also_writes: tuple[PhaseId, ...] = Field(
        default=(),
        description=(
            "later phases whose documents the agent may write in the same answer, below its own"
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
    by_process_when: ProcessCondition | None = Field(
        default=None, description="when our own process writes the document from what it knows"
    )
    carries: tuple[str, ...] = Field(
        default=(), description="sections that the report carries, for documents of our own process"
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
    drafts: tuple[Effort, ...] = Field(
        default=(),
        description=(
            "efforts at which the agent may answer with the change too; it waits, as `draft.patch`,"
            " for the approval of the design"
        ),
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
    of_drafts: bool = Field(
        default=False,
        description="a draft brings the phase back too; it then counts as the review of the change",
    )
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
    only_for_parts: tuple[str, ...] = Field(default=(), description=_ONLY_FOR_PARTS)


class TaskReviewPhase(AnsweringPhase):
    """A phase in which an agent reviews each implemented task."""

    kind: Literal["task-review"]
    verdicts: tuple[Verdict, ...]
    rounds: int = Field(default=2, ge=1)
    only_for_parts: tuple[str, ...] = Field(default=(), description=_ONLY_FOR_PARTS)


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
    operation: Literal["pull-request", "post-to-source", "final-commit"]
    skip_when: Literal["no-pull-request", "no-source"] | None = None


class EndPhase(Phase):
    """The end of the run."""

    kind: Literal["end"]


class DecisionPhase(Phase):
    """The one exceptional gate. It can be entered from any phase."""

    kind: Literal["decision"]


WRITING = (SetupPhase, AnsweringPhase, StepPhase)
"""The kinds of phases that write a document."""

AnyPhase = Annotated[
    SetupPhase
    | AgentPhase
    | ReviewPhase
    | GatePhase
    | TasksPhase
    | TaskReviewPhase
    | VerifyPhase
    | SkipJsonSchema[StepPhase]
    | PublishPhase
    | EndPhase
    | DecisionPhase,
    Field(discriminator="kind"),
]
