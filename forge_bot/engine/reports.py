"""The reports that a host sends to the engine: a closed union.

Each report carries its time and its idempotency key.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal, Self, TypedDict

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, model_validator

from forge_bot.values import (
    Attachment,
    CapabilityUse,
    CommandResult,
    Effort,
    Frozen,
    Inspection,
    PhaseId,
    Recorded,
    RedBeforeGreen,
    RequirementCheck,
    Source,
    TaskId,
    Usage,
    WeakenedTests,
    unless_empty,
)
from forge_bot.verification.judgement import UnusableCommand


class _Report(Frozen):
    key: str = Field(
        min_length=1, description="a report with a key that was seen before changes nothing"
    )
    at: AwareDatetime


class ReportHead(TypedDict):
    """The first fields of every report on an action."""

    key: str
    at: datetime
    action_id: str


def head_of(action_id: str, at: datetime, task: TaskId | None = None) -> ReportHead:
    key = f"{action_id}/{task}" if task is not None else action_id
    return ReportHead(key=key, at=at, action_id=action_id)


class RunFlags(Frozen):
    """The options given with the request."""

    auto: bool = False
    skip_pr: bool = False
    debug: bool = False
    discuss: bool = False
    batch: bool = unless_empty(False, "models are asked in providers' batches")
    scope: str = unless_empty("", "the folder that the change stays in")


class RunDescription(Frozen):
    """The facts of a run that its first report says and its state keeps."""

    run: str = Field(description="the workspace's name")
    version: str = unless_empty("", "the version of forge-bot that began the run")
    pipeline: str
    title: str
    effort: Effort
    effort_reason: str
    source: Source
    flags: RunFlags
    branch: str
    base_branch: str
    base_commit: str
    request_hash: str


class RunStarted(RunDescription, _Report):
    """The first report of every run."""

    type: Literal["run_started"] = "run_started"
    source: Source = Source()
    flags: RunFlags = RunFlags()
    merge_branch: str = Field(
        default="", description="the branch for merge that a person named or has checked out"
    )
    request_blob: str
    budget: Decimal | None = None
    budget_tokens: int | None = None
    by: str = ""


class _OnAction(_Report):
    action_id: str = Field(description="the action this report is about")


class CostingReport(_OnAction):
    """A report on work of models and tools, with its cost."""

    usage: Usage = Usage()
    uses: tuple[CapabilityUse, ...] = unless_empty((), "of tools and skills from outside")


class AgentReport(CostingReport):
    """A report on an agent's work for a phase, or for a task."""

    phase: PhaseId
    task: TaskId | None = None


class _OfPerson(_Report):
    by: str
    via: str


class Prepared(_OnAction):
    """The setup and the baseline commands have run."""

    type: Literal["prepared"] = "prepared"
    results: tuple[CommandResult, ...]
    risks: tuple[str, ...] = ()
    unusable: tuple[UnusableCommand, ...] = Field(
        default=(), description="commands whose result tells nothing; a person is asked about them"
    )
    artifact: str = Field(default="", description="document that says more about them")
    blob: str = ""


class CorrectedDesign(Frozen):
    """The document that a person approves first, as the review of its draft edited it."""

    blob: str = Field(description="git's id of its bytes")
    inspection: Inspection = Inspection()
    risks: tuple[str, ...] = ()


class ArtifactWritten(AgentReport):
    """An artifact was written to the workspace. The report carries the facts read from it."""

    type: Literal["artifact_written"] = "artifact_written"
    artifact: str
    blob: str = Field(description="git's id of its bytes")
    inspection: Inspection = Inspection()
    risks: tuple[str, ...] = ()
    held: str | None = Field(
        default=None, description="patch that touches protected paths and is not applied yet"
    )
    held_blob: str = ""
    held_paths: tuple[str, ...] = ()
    corrected: CorrectedDesign | None = unless_empty(
        None, "the design, where this is a review that edited it too"
    )


class FailureReason(StrEnum):
    """The reason why an agent ended without an answer."""

    LIMIT = "limit"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    UNFIT = "unfit"
    BUDGET = "budget"
    CONFLICT = "conflict"


class AgentFailed(AgentReport):
    """An agent ended without an answer."""

    type: Literal["agent_failed"] = "agent_failed"
    reason: FailureReason
    message: str


class RequestedCall(Recorded):
    """A call of a tool or skill that may change something, with its exact arguments as JSON."""

    capability: str
    capability_type: Literal["mcp_tool", "skill"]
    params: str
    reasoning: str = Field(default="", description="why the agent asks for it")
    digest: str = Field(default="", description="of what performs it: the server or the skill")


class CallsRequested(AgentReport):
    """An agent ended its turn with calls that are not made within a conversation."""

    type: Literal["calls_requested"] = "calls_requested"
    calls: tuple[RequestedCall, ...] = Field(min_length=1)
    asks: bool = Field(description="a person has to agree first")
    artifact: str = Field(description="the document with exactly these calls")
    blob: str


class CallBegun(_OnAction):
    """A call is about to be made. Whatever comes after this, it is not made again."""

    type: Literal["call_begun"] = "call_begun"
    artifact: str
    index: int = Field(ge=0)


class CallOutcome(StrEnum):
    """The outcome of a call."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class CallEnded(CostingReport):
    """A call ended, or it is not known whether it was made. `result` is the document with it."""

    type: Literal["call_ended"] = "call_ended"
    artifact: str
    index: int = Field(ge=0)
    outcome: CallOutcome
    result: str
    blob: str


class VerifiedCommands(Frozen):
    """The results of the project's commands after the work, and what they prove."""

    results: tuple[CommandResult, ...]
    red_before_green: RedBeforeGreen | None = unless_empty(
        None, "of a defect: the tests that failed before the change and pass now"
    )
    requirements: RequirementCheck | None = unless_empty(
        None, "what the table of requirements names, looked for and run"
    )
    weakened: WeakenedTests = unless_empty(
        WeakenedTests(), "tests that the change deletes, skips or weakens"
    )


class CommandsRan(VerifiedCommands, _OnAction):
    """The project's commands ran after the work, in our own process."""

    type: Literal["commands_ran"] = "commands_ran"
    artifact: str
    blob: str
    broken_rules: tuple[str, ...] = unless_empty(
        (), "rules of the project's manifest that hold at the base and not any more"
    )


class Published(_OnAction):
    """Something became visible outside the run, or there was a reason to leave it out."""

    type: Literal["published"] = "published"
    detail: str
    url: str = ""
    branch: str = Field(
        default="", description="the branch that is offered for merge; empty if it is the run's"
    )


class PublicationAsked(_OnAction):
    """The host can ask a person and does so before it posts the result to the tracker."""

    type: Literal["publication_asked"] = "publication_asked"


class ActionFailed(_OnAction):
    """The host could not perform the action."""

    type: Literal["action_failed"] = "action_failed"
    message: str


class ArtifactChanged(_Report):
    """Somebody changed an artifact by hand."""

    type: Literal["artifact_changed"] = "artifact_changed"
    artifact: str
    blob: str
    inspection: Inspection = Inspection()
    by: str = ""


class GateShown(_Report):
    """A person was shown the question of the open gate."""

    type: Literal["gate_shown"] = "gate_shown"
    gate: PhaseId
    digest: str
    via: str


class Answer(StrEnum):
    """The possible answers of a person at a gate."""

    APPROVE = "approve"
    REJECT = "reject"
    ANSWER = "answer"
    DONE = "done"
    SKIP = "skip"
    POST = "post"
    ABANDON = "abandon"


class AnswerWords(Frozen):
    """The words of an answer."""

    notes: str = ""
    choices: tuple[str, ...] = unless_empty((), "options of open decisions, such as 2a")
    chosen: tuple[str, ...] = unless_empty((), "the words of each of these options, in order")
    condition: str = unless_empty("", "what a person approved with, in their words")


class Answered(AnswerWords, _OfPerson):
    """A person answered. Without a digest, the answer refers to the version shown last."""

    type: Literal["answered"] = "answered"
    gate: PhaseId
    answer: Answer
    digest: str | None = None
    awaits_others: bool = unless_empty(
        False, "an approval that counts, and the repository's rules want more people's"
    )
    action_id: str | None = None


class RetryAsked(_OfPerson):
    """A person sends the run back to a phase."""

    type: Literal["retry_asked"] = "retry_asked"
    phase: PhaseId
    notes: str = ""


class BudgetRaised(_OfPerson):
    """A person raises the budget, by US dollars or by tokens."""

    type: Literal["budget_raised"] = "budget_raised"
    amount: Decimal | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)


class RequestRefreshed(_OfPerson):
    """The request was read again and has changed."""

    type: Literal["request_refreshed"] = "request_refreshed"
    title: str
    request_blob: str
    request_hash: str


class EffortChanged(_OfPerson):
    """A person changed the effort."""

    type: Literal["effort_changed"] = "effort_changed"
    effort: Effort


class ApprovalDoubted(_Report):
    """An approval came in a way that the host cannot verify.

    The host asks again before anything is published.
    """

    type: Literal["approval_doubted"] = "approval_doubted"
    gate: PhaseId
    why: str


class ReviewItem(Recorded):
    """A thread of a review, the text of a review, or a comment on the pull request that a follow-up
    takes.
    """

    by: str
    stranger: bool = unless_empty(False, "they may give no commands here")
    path: str = unless_empty("", "the file that it is about")
    line: int | None = unless_empty(None, "the line, of the version that was reviewed")
    thread: int = unless_empty(0, "the comment that an answer belongs to")
    newest: str = Field(description="what was read last of it; nothing is taken twice")

    @property
    def place(self) -> str:
        """The file and the line; empty for what is about the whole change."""
        return f"{self.path}:{self.line}" if self.line else self.path


class FollowUpAsked(_Report):
    """More work is wanted on the change that the run offers: on failed checks, or as a person says,
    in words or by taking reviews. The artifact holds all of it.
    """

    type: Literal["follow_up_asked"] = "follow_up_asked"
    artifact: str
    blob: str
    head: str = Field(description="the newest commit that was offered before it")
    checks: tuple[str, ...] = unless_empty((), "names of failed checks")
    items: tuple[ReviewItem, ...] = unless_empty((), "what was taken of reviews")
    left: tuple[str, ...] = unless_empty((), "sentences on what was not taken, and why")
    notes: str = unless_empty("", "the words of the person who asks")
    attachments: tuple[Attachment, ...] = unless_empty((), "what these words and reviews attach")
    by: str = unless_empty("", "who asks; empty where failed checks do")
    via: str = unless_empty("", "how they asked")


class PeopleCommitted(_Report):
    """The merge of what people added to the code branch into the run."""

    type: Literal["people_committed"] = "people_committed"
    branch: str
    commit: str = Field(description="the newest one of theirs")
    count: int = Field(ge=1, description="how many there are")
    merged: str = Field(description="the commit that merges them, before that of this report")
    by: str = Field(description="the author of the newest one")


class Asked(_OfPerson):
    """A person asked a model about the run without changing it.

    The words are kept for the person's next questions.
    """

    type: Literal["asked"] = "asked"
    phase: PhaseId = Field(description="the open gate, or the phase the run stood at")
    question: str
    answer: str = Field(default="", description="the beginning of it; empty if there was none")
    usage: Usage = Usage()


class PauseReason(StrEnum):
    """The reason why no model may be asked for a time."""

    LIMIT = "limit"
    CAP = "cap"
    SWITCH = "switch"


LONGEST_PAUSE = timedelta(days=31)
"""Other runs wait for a limit too: a worker that says anything cannot hold them up for longer."""


class Paused(_Report):
    """No model may be asked now. The run is not stuck: it goes on by itself later."""

    type: Literal["paused"] = "paused"
    why: PauseReason
    until: AwareDatetime | None = unless_empty(None, "when it may be asked again, where known")
    model: str = unless_empty("", "the model whose provider asks to wait")
    told: str = unless_empty("", "the other run that its provider said so to")
    dollars: Decimal = unless_empty(Decimal(0), "what the next call may cost, of a cap")

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.until is not None and self.until - self.at > LONGEST_PAUSE:
            raise ValueError(f"a pause lasts {LONGEST_PAUSE.days} days at most")
        return self


class Abandoned(_OfPerson):
    """A person ends the run."""

    type: Literal["abandoned"] = "abandoned"
    notes: str = ""


WorkReport = (
    Prepared
    | ArtifactWritten
    | AgentFailed
    | CallsRequested
    | CallBegun
    | CallEnded
    | CommandsRan
    | Published
    | PublicationAsked
    | ActionFailed
)
"""Reports on the outstanding action."""

ExternalEvent = RequestRefreshed | EffortChanged | ApprovalDoubted | FollowUpAsked | PeopleCommitted
"""Reports of what changed outside of the run."""

Report = Annotated[
    RunStarted
    | WorkReport
    | ArtifactChanged
    | GateShown
    | Answered
    | RetryAsked
    | BudgetRaised
    | ExternalEvent
    | Asked
    | Paused
    | Abandoned,
    Field(discriminator="type"),
]

REPORT: TypeAdapter[Report] = TypeAdapter(Report, config=ConfigDict(defer_build=True))
