"""The commands that a comment can hold: a closed union. Each knows its line in the
comment, counted from 1.
"""

from dataclasses import dataclass

from forge_bot.gate.arguments import NO_LIMIT, Amount, Size


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a run on this issue. The text is added to the request."""

    line: int
    text: str = ""
    effort: Size | None = None
    auto: bool = False
    skip_pr: bool = False
    debug: bool = False
    discuss: bool = False
    batch: bool = False
    budget: Amount = NO_LIMIT
    pipeline: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Approve:
    """Yes to what was shown last before the comment, or to the version that is named."""

    line: int
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """Back with notes; there are always some."""

    line: int
    notes: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about the run. It is answered in the thread and changes nothing."""

    line: int
    question: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Do a phase again, the current one if none is named."""

    line: int
    phase: str | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """Say where the run stands."""

    line: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Say what the run has cost."""

    line: int


@dataclass(frozen=True, slots=True)
class Continue:
    """Allow more money or tokens, and go on."""

    line: int
    amount: Amount


@dataclass(frozen=True, slots=True)
class Refresh:
    """Read the issue again: its text as it is now becomes the request."""

    line: int


@dataclass(frozen=True, slots=True)
class Update:
    """Merge what came to the base branch since, and verify the run again."""

    line: int


@dataclass(frozen=True, slots=True)
class Resize:
    """Change how much process the run gets."""

    line: int
    effort: Size


@dataclass(frozen=True, slots=True)
class MarkDone:
    """The task that was asked of a person has been done."""

    line: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Go on without the task that was asked of a person."""

    line: int


@dataclass(frozen=True, slots=True)
class Abandon:
    """End the run. Its branch stays."""

    line: int


@dataclass(frozen=True, slots=True)
class PostSummary:
    """Post the summary that was shown, or the version that is named. Only a terminal and a client
    are asked for it.
    """

    line: int
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Help:
    """List the commands. The gate answers this one by itself."""

    line: int


Command = (
    Start
    | Approve
    | Reject
    | Ask
    | Retry
    | Status
    | Cost
    | Continue
    | Refresh
    | Update
    | Resize
    | MarkDone
    | Skip
    | Abandon
    | Help
)
AnswerCommand = Approve | Reject | MarkDone | Skip | PostSummary | Abandon
"""What answers an open question, on every face."""


@dataclass(frozen=True, slots=True)
class Mistyped:
    """A line that was meant as a command and is none. The hint is one sentence of Markdown."""

    line: int
    written: str
    hint: str
