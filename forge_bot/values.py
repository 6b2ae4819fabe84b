"""The small words everything else is said in: ids, enumerations, findings, problems, usage."""

from decimal import Decimal
from enum import StrEnum
from typing import NewType

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

PhaseId = NewType("PhaseId", str)
TaskId = NewType("TaskId", str)


class Frozen(BaseModel):
    """A value: it cannot change, and it has no field that its class does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Recorded(Frozen):
    """A value that is written into state.json, with the camelCase keys that file is known for."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True)


class Effort(StrEnum):
    """How much process a request deserves."""

    S = "S"
    M = "M"
    L = "L"


class Tier(StrEnum):
    """How strong a model a phase wants; settings say which model that is."""

    FAST = "fast"
    STANDARD = "standard"
    STRONG = "strong"


class Verdict(StrEnum):
    """What a reviewer says. UNREADABLE is never a yes."""

    APPROVE = "APPROVE"
    APPROVE_WITH_NOTES = "APPROVE_WITH_NOTES"
    REVISE = "REVISE"
    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    PASS_WITH_NOTES = "PASS_WITH_NOTES"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"
    UNREADABLE = "UNREADABLE"

    @property
    def positive(self) -> bool:
        """Whether the work may go on."""
        return self in {Verdict.APPROVE, Verdict.APPROVE_WITH_NOTES, Verdict.PASS, Verdict.PASS_WITH_NOTES}


class Severity(StrEnum):
    """How bad a finding is. A CRITICAL one forbids a positive verdict, a MAJOR one forbids `--auto`."""

    CRITICAL = "CRITICAL"
    MAJOR = "MAJOR"
    MINOR = "MINOR"


class Finding(Recorded):
    """One thing a reviewer found."""

    severity: Severity
    description: str


class Problem(Recorded):
    """Why an artifact is not what its phase asked for."""

    place: str = Field(description="heading, task or line it is about; empty for the whole file")
    message: str
    fatal: bool = Field(description="True if not even a person can accept the artifact like this")

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class TaskMode(StrEnum):
    """Who does a task, and beside whom."""

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
    """What a piece of work cost. Tokens as the provider counts them, money in US dollars."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Field(default=Decimal(0), description="None when the price of a model is unknown")
    duration_ms: int = 0
    model: str = ""

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
        )


class CommandName(StrEnum):
    """Which of the project's own commands ran."""

    SETUP = "setup"
    BUILD = "build"
    TEST = "test"
    LINT = "lint"


class CommandResult(Recorded):
    """What one project command did; the exit code is the process's own."""

    name: CommandName
    argv: tuple[str, ...]
    exit_code: int
    duration_ms: int
    timed_out: bool = False
    tests: int | None = Field(default=None, description="tests that ran, where the output tells")
    failures: tuple[str, ...] = Field(default=(), description="failing tests or lint complaints, by stable names, sorted")
    tail: str = Field(default="", description="the last lines of the output")


class Inspection(Frozen):
    """What can be read off an artifact: the facts a report carries instead of the text."""

    problems: tuple[Problem, ...] = ()
    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    tasks: tuple[TaskSpec, ...] = ()

    @property
    def fatal(self) -> bool:
        """Whether a person could not accept the artifact either."""
        return any(problem.fatal for problem in self.problems)
