"""The state of one run: the fold of its reports, and the content of state.json."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Self

from pydantic import Field, field_serializer

from forge_bot.engine.budget import Budget
from forge_bot.engine.reports import (
    Answer,
    AnswerWords,
    ArtifactWritten,
    Paused,
    RequestedCall,
    RunDescription,
    VerifiedCommands,
)
from forge_bot.values import (
    CapabilityUse,
    CommandResult,
    DocumentFacts,
    Finding,
    Frozen,
    NothingToDo,
    PhaseId,
    Recorded,
    RunStatus,
    TaskId,
    TaskSpec,
    Usage,
    Verdict,
    unless_empty,
)
from forge_bot.verification.judgement import Judgement, UnusableCommand

SCHEMA_VERSION = 1


class TaskStatus(StrEnum):
    """The status of one task."""

    PENDING = "pending"
    CLEARED = "cleared"  # its held patch was approved and has to be applied
    IMPLEMENTED = "implemented"
    PASSED = "passed"
    SKIPPED = "skipped"


class Reason(StrEnum):
    """The reason why the exceptional gate is open."""

    ROUNDS_EXHAUSTED = "rounds_exhausted"
    INVALID_ARTIFACT = "invalid_artifact"
    UNREADABLE_VERDICT = "unreadable_verdict"
    VERIFICATION_RED = "verification_red"
    PROTECTED_PATHS = "protected_paths"
    BUDGET = "budget"
    AGENT_FAILED = "agent_failed"
    SETUP_FAILED = "setup_failed"
    BASELINE = "baseline"
    NOTHING_TO_DO = "nothing_to_do"
    ACTION_FAILED = "action_failed"
    UNVERIFIED_APPROVAL = "unverified_approval"
    CHECKS_RED = "checks_red"
    DOUBTFUL_EVIDENCE = "doubtful_evidence"
    TOOL_APPROVAL = "tool_approval"
    OUTCOME_UNKNOWN = "outcome_unknown"


class ShownVersion(Recorded):
    """A file shown at a gate, by name and git blob."""

    name: str
    blob: str


class ArtifactRecord(DocumentFacts, Recorded):
    """The facts known about an artifact without reading it."""

    blob: str
    phase: PhaseId
    round: int
    risks: tuple[str, ...] = ()


class Stuck(Recorded):
    """The reason why a task waits for a person."""

    reason: Reason
    subject: str
    review: bool = Field(
        default=False, description="it stuck in its review, not in its implementation"
    )
    files: tuple[ShownVersion, ...] = ()
    report: ArtifactWritten | None = Field(default=None, description="what approval would accept")


class TaskState(Recorded):
    """A task and its status."""

    spec: TaskSpec
    status: TaskStatus = TaskStatus.PENDING
    origin: str = Field(
        default="", description="artifact that asked for it; empty for planned tasks"
    )
    attempts: int = 0
    rounds: int = 0
    verdict: Verdict | None = None
    stuck: Stuck | None = None
    drafted: bool = Field(default=False, description="the approved draft is its change")

    @property
    def settled(self) -> bool:
        """Return whether the tasks that depend on it may start."""
        return self.status in {TaskStatus.PASSED, TaskStatus.SKIPPED}


class CallStatus(StrEnum):
    """The status of a call that may change something."""

    WAITING = "waiting"
    CLEARED = "cleared"  # approved, or allowed by the configuration, and not begun
    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    DECLINED = "declined"


class CallRecord(RequestedCall):
    """A call that may change something, in the order in which it was asked for."""

    artifact: str = Field(description="the document that a person is shown")
    index: int
    phase: PhaseId
    task: TaskId | None = None
    status: CallStatus
    result: str = Field(default="", description="the document with its result")
    by: str = Field(default="", description="who agreed to it; empty if the configuration did")


class Wave(Recorded):
    """Tasks that were handed out together and have not all been reported."""

    review: bool
    remaining: tuple[TaskId, ...]


class Note(Recorded):
    """Information for the next round of a phase or task."""

    phase: PhaseId
    task: TaskId | None = None
    by: str = Field(description="a login, or `forge-bot` for what our own process found")
    text: str


class Showing(Recorded):
    """The time at which a version of a gate was shown."""

    digest: str
    at: datetime
    via: str


class GateFacts(Frozen):
    """A question to a person and the version that an approval of it is bound to, by `digest`."""

    name: PhaseId
    options: tuple[str, ...]
    digest: str
    files: tuple[ShownVersion, ...] = ()
    reason: Reason | None = None
    subject: str = ""
    resume_at: PhaseId
    findings: tuple[Finding, ...] = ()


class OpenGate(GateFacts, Recorded):
    """The question that is open."""

    round: int
    task: TaskId | None = None
    report: ArtifactWritten | None = None
    shown: tuple[Showing, ...] = ()

    @property
    def is_question_of_agent(self) -> bool:
        """Return whether an agent asks something, which words answer."""
        return Answer.ANSWER in self.options


class Decision(AnswerWords, Recorded):
    """An answer that counted."""

    at: datetime
    gate: PhaseId
    answer: str
    digest: str
    by: str
    via: str
    reason: Reason | None = None
    task: TaskId | None = None


class LogEntry(Recorded):
    """One event of the run, for people."""

    at: datetime
    phase: PhaseId
    event: str
    task: TaskId | None = None
    usage: Usage | None = None


class Verification(Judgement, VerifiedCommands, Recorded):
    """The results of the project's commands after the work, and the judgement on them."""

    accepted: bool = Field(default=False, description="a person accepted a red result")

    @property
    def doubts(self) -> tuple[str, ...]:
        """The doubts about the proof that green tests give, as sentences: a person decides."""
        proof = self.red_before_green
        lacking = [proof.said] if proof and not (proof.tests or proof.foreseen) else []
        return (*lacking, *self.weakened.unnamed)


class State(RunDescription, Recorded):
    """One run. Only `start` and `advance` build it."""

    schema_version: int = SCHEMA_VERSION
    flow_template: str
    started_at: datetime
    updated_at: datetime
    current_phase: PhaseId
    current_phase_status: RunStatus = RunStatus.IN_PROGRESS
    completed_phases: tuple[PhaseId, ...] = ()
    skipped_phases: tuple[PhaseId, ...] = ()
    step: int = Field(default=1, description="grows with every move; part of action ids")
    attempts: int = Field(default=0, description="tries at the current phase")
    visits: dict[str, int] = Field(
        default_factory=dict[str, int], description="answers so far, by phase or phase/task"
    )
    rounds: dict[str, int] = Field(
        default_factory=dict[str, int],
        description="negative verdicts so far, by phase; shown gates, by gate",
    )
    artifacts: dict[str, ArtifactRecord] = Field(default_factory=dict[str, ArtifactRecord])
    tasks: tuple[TaskState, ...] = ()
    wave: Wave | None = None
    calls: tuple[CallRecord, ...] = ()
    capabilities: tuple[CapabilityUse, ...] = Field(
        default=(), description="use of tools and skills from outside"
    )
    notes: tuple[Note, ...] = ()
    gate: OpenGate | None = None
    decisions: tuple[Decision, ...] = ()
    sent_back: tuple[Decision, ...] = unless_empty(
        (), "what people asked for beside the questions: retries and changes"
    )
    agreed: tuple[Decision, ...] = unless_empty(
        (), "approvals that counted and did not settle their question alone"
    )
    risks: tuple[str, ...] = ()
    baseline: tuple[CommandResult, ...] = ()
    unusable: tuple[UnusableCommand, ...] = Field(
        default=(), description="commands of the baseline that tell nothing; not judged by"
    )
    verification: Verification | None = None
    accepted_doubts: tuple[str, ...] = unless_empty(
        (), "sentences about the proof of tests in spite of which a person went on"
    )
    nothing_to_do: NothingToDo | None = Field(
        default=None, description="why the run ends without a change, as a person agreed"
    )
    pause: Paused | None = unless_empty(None, "why no model may be asked since the last work")
    budget: Budget = Budget()
    first_cap: Decimal | None = None
    first_token_cap: int | None = None
    usage: Usage = Usage()
    pull_request: str = ""
    pull_request_branch: str = Field(
        default="", description="the branch that is offered for merge; empty before it has a name"
    )
    log: tuple[LogEntry, ...] = ()
    seen: frozenset[str] = Field(
        default=frozenset(), description="keys of the reports folded so far"
    )

    @field_serializer("seen")
    def _sort_ids(self, seen: frozenset[str]) -> list[str]:
        return sorted(seen)

    @property
    def here(self) -> bool:
        """Return whether the branch for merge is the one that was checked out at the start."""
        return self.pull_request_branch == self.base_branch

    def task(self, task_id: TaskId | None) -> TaskState | None:
        return next((task for task in self.tasks if task.spec.id == task_id), None)

    def with_task(self, changed: TaskState) -> Self:
        tasks = (changed if task.spec.id == changed.spec.id else task for task in self.tasks)
        return self.replace(tasks=tuple(tasks))

    def versions(self, names: Iterable[str]) -> tuple[ShownVersion, ...]:
        """Return the present versions of these documents, as far as there are any."""
        known = ((name, self.artifacts[name]) for name in names if name in self.artifacts)
        return tuple(ShownVersion(name=name, blob=record.blob) for name, record in known)

    def with_document(self, name: str, record: ArtifactRecord) -> Self:
        """Return this state with a new version of a document."""
        return self.replace(artifacts={**self.artifacts, name: record})

    def without_document(self, name: str) -> Self:
        """Return this state without a document."""
        left = {other: record for other, record in self.artifacts.items() if other != name}
        return self.replace(artifacts=left)

    def with_round(self, name: str, count: int) -> Self:
        """Return this state with the rounds of a phase, gate or kind of event counted."""
        return self.replace(rounds={**self.rounds, name: count})

    def with_visit(self, place: str) -> Self:
        """Return this state with one more answer at a phase, or phase/task."""
        return self.replace(visits={**self.visits, place: self.visits.get(place, 0) + 1})

    def with_note(self, phase: PhaseId, by: str, text: str, task: TaskId | None = None) -> Self:
        """Return this state with a note for the next round of a phase or task."""
        return self.replace(notes=(*self.notes, Note(phase=phase, task=task, by=by, text=text)))

    def logged(
        self,
        at: datetime,
        phase: PhaseId,
        event: str,
        task: TaskId | None = None,
        usage: Usage | None = None,
    ) -> Self:
        """Return this state with one more line in its log."""
        entry = LogEntry(at=at, phase=phase, event=event, task=task, usage=usage)
        return self.replace(log=(*self.log, entry))

    @property
    def ended(self) -> bool:
        return self.current_phase_status in {RunStatus.COMPLETED, RunStatus.ABANDONED}
