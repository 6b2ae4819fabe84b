"""The shared value types: ids, enumerations, findings, problems, usage."""

import re
from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, NewType, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

PhaseId = NewType("PhaseId", str)
TaskId = NewType("TaskId", str)

_TESTS_SHOWN = 5
"""Tests that a sentence names."""


class Frozen(BaseModel):
    """An immutable value without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def replace(self, **changes: Any) -> Self:
        """Return this value with some fields replaced. They are not validated."""
        return self.model_copy(update=changes)


class Recorded(Frozen):
    """A value that is written to state.json, with the camelCase keys of that file."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True
    )


def is_empty(value: object) -> bool:
    """Return whether a field says nothing, so that a record need not name it."""
    return not value


def unless_empty(default: Any, description: str) -> Any:
    """Return a field that a record names only where it says something."""
    return Field(default=default, exclude_if=is_empty, description=description)


class Attachment(Frozen):
    """A file that somebody attached to what they ask for. `name` is that of its copy in the run's
    folder; without one, `unseen` says why no model sees it.
    """

    label: str = Field(description="what it is called for people")
    address: str
    name: str = ""
    media_type: str = ""
    digest: str = Field(default="", description="sha256 of the copy")
    unseen: str = Field(default="", description="a phrase, such as `it is a web page`")

    @property
    def is_image(self) -> bool:
        """Return whether it is an image that a model may see."""
        return self.media_type.startswith("image/")


class Source(Frozen):
    """The origin of the request."""

    type: Literal["text", "github_issue", "jira_issue", "issue", "workspace"] = "text"
    id: str = ""
    url: str = ""
    author: str = ""

    @property
    def is_on_forge(self) -> bool:
        """Return whether it is an issue where the code is hosted, which takes comments."""
        return self.type == "github_issue"


def source_of_issue(number: int, url: str, author: str = "") -> Source:
    """Return an issue where the code is hosted as the origin of a request."""
    return Source(type="github_issue", id=str(number), url=url, author=author)


class RunStatus(StrEnum):
    """The status of the current phase."""

    IN_PROGRESS = "in_progress"
    AWAITING_HUMAN = "awaiting_human"
    COMPLETED = "completed"
    ABANDONED = "abandoned"


class Effort(StrEnum):
    """The amount of process that a request gets."""

    S = "S"
    M = "M"
    L = "L"


class Tier(StrEnum):
    """The strength of the model that a phase asks for. The settings map it to a model."""

    FAST = "fast"
    STANDARD = "standard"
    STRONG = "strong"


class Verdict(StrEnum):
    """The verdict of a reviewer. UNREADABLE never counts as approval."""

    APPROVE = "APPROVE"
    APPROVE_WITH_NOTES = "APPROVE_WITH_NOTES"
    REVISE = "REVISE"
    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    PASS_WITH_NOTES = "PASS_WITH_NOTES"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"
    UNREADABLE = "UNREADABLE"

    @property
    def positive(self) -> bool:
        """Return whether the work may continue."""
        return self in {
            Verdict.APPROVE,
            Verdict.APPROVE_WITH_NOTES,
            Verdict.PASS,
            Verdict.PASS_WITH_NOTES,
        }


_PLACE = re.compile(r"\A([\w./-]+:\d+(?:-\d+)?)[:,]?\s+(?=\S)")
"""The place that a finding begins with."""


class Severity(StrEnum):
    """The weight of a finding. CRITICAL forbids a positive verdict, MAJOR forbids `--auto`."""

    CRITICAL = "CRITICAL"
    MAJOR = "MAJOR"
    MINOR = "MINOR"


class Finding(Recorded):
    """One finding of a reviewer."""

    severity: Severity
    description: str

    @property
    def is_corrected(self) -> bool:
        """Return whether the reviewer of a draft says that it put this right itself."""
        return self.description.rstrip().endswith("Corrected.")

    @property
    def words(self) -> str:
        """The description as Markdown, with the place that it begins with, `path:line`, as code."""
        return _PLACE.sub(r"`\1`: ", self.description)


class Problem(Recorded):
    """The reason why an artifact is not valid for its phase."""

    place: str = Field(description="heading, task or line it is about; empty for the whole file")
    message: str
    fatal: bool = Field(description="True if not even a person can accept the artifact like this")

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class TaskMode(StrEnum):
    """The worker of a task, and whether other tasks may run at the same time."""

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"
    HUMAN_GATE = "human_gate"


class TaskSpec(Recorded):
    """One task as tasks.md describes it."""

    id: TaskId
    title: str
    mode: TaskMode = TaskMode.SEQUENTIAL
    files: tuple[str, ...] = ()
    depends_on: tuple[TaskId, ...] = ()
    acceptance: tuple[str, ...] = ()


class Usage(Recorded):
    """The cost of a piece of work: tokens as the provider counts them, money in US dollars."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Field(
        default=Decimal(0), description="None when the price of a model is unknown"
    )
    duration_ms: int = 0
    model: str = ""
    unanswered: int = unless_empty(0, "calls that were sent and never answered")
    may_be_billed: Decimal = unless_empty(
        Decimal(0), "the most that those may cost; it is no part of `cost`"
    )

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        known = self.cost is not None and other.cost is not None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=(self.cost or Decimal(0)) + (other.cost or Decimal(0)) if known else None,
            duration_ms=self.duration_ms + other.duration_ms,
            model=other.model or self.model,
            unanswered=self.unanswered + other.unanswered,
            may_be_billed=self.may_be_billed + other.may_be_billed,
        )


class CapabilityUse(Recorded):
    """The use of one tool or skill in a run, or why it could not be used at all."""

    name: str
    calls: int = 0
    failed: int = 0
    denied: int = 0
    seconds: float = 0.0
    cost: Decimal | None = Field(default=Decimal(0), description="of models that performed it")
    missing: str = ""

    def __add__(self, other: "CapabilityUse") -> "CapabilityUse":
        known = self.cost is not None and other.cost is not None
        return CapabilityUse(
            name=self.name,
            calls=self.calls + other.calls,
            failed=self.failed + other.failed,
            denied=self.denied + other.denied,
            seconds=round(self.seconds + other.seconds, 3),
            cost=(self.cost or Decimal(0)) + (other.cost or Decimal(0)) if known else None,
            missing=other.missing or self.missing,
        )


class CommandName(StrEnum):
    """The name of a project command."""

    SETUP = "setup"
    BUILD = "build"
    TEST = "test"
    LINT = "lint"


class CommandResult(Recorded):
    """The result of one project command. The exit code is the process's own."""

    name: CommandName
    argv: tuple[str, ...]
    exit_code: int
    duration_ms: int
    timed_out: bool = False
    tests: int | None = Field(default=None, description="tests that ran, where the output tells")
    failures: tuple[str, ...] = Field(
        default=(), description="failing tests or lint complaints, by stable names, sorted"
    )
    flaky: tuple[str, ...] = unless_empty(
        (), "failing tests that passed when the same code was tested again"
    )
    tail: str = Field(
        default="", description="the output, or the failing tests' words and the end of a long one"
    )


class RedBeforeGreen(Recorded):
    """The proof that a change mends a defect, or the reason why there is none."""

    tests: tuple[str, ...] = Field(
        default=(), description="tests that failed at the base commit and pass now"
    )
    files: tuple[str, ...] = Field(
        default=(), description="the only files of the change that were applied there"
    )
    base: str = ""
    head: str = ""
    missing: str = Field(default="", description="why there is no proof, as a sentence")
    foreseen: bool = unless_empty(
        False, "no test command counts, and whoever approved the design was told so"
    )

    @property
    def said(self) -> str:
        """Return the proof as a sentence, or that there is none."""
        if not self.tests:
            return f"Red before green was not shown. {self.missing}"
        named = ", ".join(self.tests[:_TESTS_SHOWN])
        more = (
            f" and {len(self.tests) - _TESTS_SHOWN} more" if len(self.tests) > _TESTS_SHOWN else ""
        )
        return (
            f"Red before green: with only {', '.join(self.files)} of this change applied at"
            f" {self.base[:12]}, these failed, and at {self.head[:12]} they pass: {named}{more}."
        )


class WeakenedTests(Recorded):
    """The losses of proof in the tests of a change, in sentences."""

    unnamed: tuple[str, ...] = unless_empty((), "what the approved design does not name")
    named: tuple[str, ...] = unless_empty((), "what it names")


class RequirementCheck(Recorded):
    """The meaning of the names in a table of requirements at the end of a run."""

    document: str = Field(description="the document that has the table")
    ran: tuple[str, ...] = Field(default=(), description="tests that ran and passed")
    failed: tuple[str, ...] = Field(default=(), description="tests that ran and failed")
    not_run: tuple[str, ...] = Field(
        default=(), description="tests that are not among those that the commands ran"
    )

    @property
    def said(self) -> tuple[str, ...]:
        """Return the missing parts, as sentences."""
        parts = (
            (f"{self.document} names tests that were not seen to run", self.not_run),
            (f"{self.document} names tests that failed", self.failed),
        )
        return tuple(f"{what}: {_several(names)}." for what, names in parts if names)


def _several(names: Sequence[str]) -> str:
    shown = "; ".join(name.rstrip(".") for name in names[:_TESTS_SHOWN])
    left = len(names) - _TESTS_SHOWN
    return f"{shown}; and {left} more" if left > 0 else shown


class Unneeded(StrEnum):
    """The reason why a request needs no change."""

    ALREADY_WORKS = "already works"
    NOT_REPRODUCED = "cannot be reproduced"
    UNCLEAR = "not enough said"


class NothingToDo(Recorded):
    """A finding that a request needs no change, and its evidence as it was written."""

    why: Unneeded
    evidence: str


class DocumentFacts(Frozen):
    """The facts read from a document that its record keeps."""

    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    title: str = unless_empty("", "the title of the change, where the document says it")
    one_task: bool = unless_empty(False, "the document plans a single task")
    planned: tuple[TaskSpec, ...] = unless_empty((), "the tasks that it plans, where it lists them")
    sections: dict[str, str] = Field(
        default_factory=dict[str, str],
        exclude_if=is_empty,
        description="texts that documents of our own process repeat, by heading",
    )
    next_documents: tuple[str, ...] = unless_empty(
        (), "the documents of later phases, if the same answer holds them"
    )


class Inspection(DocumentFacts):
    """The facts read from an artifact. A report carries them instead of the text."""

    problems: tuple[Problem, ...] = ()
    contradictions: tuple[str, ...] = unless_empty((), "why an approval in it does not count")
    tasks: tuple[TaskSpec, ...] = ()
    nothing_to_do: NothingToDo | None = unless_empty(
        None, "the document says that no change is needed"
    )

    @property
    def fatal(self) -> bool:
        """Return whether a person could not accept the artifact either."""
        return any(problem.fatal for problem in self.problems)
