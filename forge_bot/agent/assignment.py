"""One assignment for a model, its limits, what the project's commands said of its edits, the events
that a face may show while it works, and how it ended.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum

from pydantic import Field

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, CapabilityType
from forge_bot.agent.model_answers import AnswerKind, Change, Document
from forge_bot.agent.models.base import ChatMessage
from forge_bot.artifacts.markdown import without_section
from forge_bot.remedies import ModelTrouble
from forge_bot.settings.config import AgentSettings
from forge_bot.values import Frozen, PhaseId, TaskId, Tier, Usage


class WorkLimits(AgentSettings):
    """The limits of one assignment: those of the configuration, and further ones. Each ends it with
    its own reason.

    `corrections` are answers in a row that may go back, `tries` those whose edits make commands
    newly red. `file_chars` bounds a result of read_file, `result_chars` any other. `lookup_seconds`
    is for a request that reads, `command_seconds` for one that runs commands, `try_seconds` for all
    commands on edits.
    """

    corrections: int = 3
    result_chars: int = 8_000
    file_chars: int = 16_000
    lookup_seconds: float = 60.0
    command_seconds: float = 3_600.0
    tries: int = 0
    try_seconds: float = 900.0


Opening = Callable[[], Awaitable[tuple[ChatMessage, ...]]]
"""Makes the first messages of a conversation. Nothing calls it for one that the journal has."""


def place_of(action_id: str, task: TaskId | None) -> str:
    """Return how all keys in the journal begin of the work on an action, or on its task."""
    return f"{action_id}/{task}@" if task else f"{action_id}@"


def beginning(*facts: object) -> str:
    """Return a digest of what a conversation begins from, as JSON has it."""
    text = json.dumps(facts, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Assignment(Frozen):
    """The task for a model.

    `began` is the digest of the documents, the commit and the answers that it begins from: an
    action id alone comes again in a record that was taken back.
    """

    action_id: str
    agent: str
    phase: PhaseId
    task: TaskId | None = None
    round: int = Field(default=1, ge=1)
    asked_at: str = Field(default="", description="place of the request that this work answers")
    tier: Tier = Tier.STANDARD
    began: str = ""
    kind: AnswerKind = AnswerKind.DOCUMENT
    providers: tuple[str, ...] = Field(
        default=(), description="names of the capabilities this agent may ask for"
    )
    running: tuple[str, ...] = Field(default=(), description="of these, the ones that run commands")
    outside: Mapping[str, CapabilityType] = Field(
        default={}, description="of these, tools and skills that are looked up when they are asked"
    )
    limits: WorkLimits = WorkLimits()

    @property
    def place(self) -> str:
        """Return how all keys in the journal of this work begin, whatever it began from."""
        return place_of(self.action_id, self.task)

    @property
    def prefix(self) -> str:
        """Return the prefix of all keys of this conversation in the journal."""
        return f"{self.place}{self.began}#"

    def round_text(self, step: str) -> str:
        """Return the round of a replay key:

        `[task/][request/]round.turn`, with `~try` from the second try on.
        """
        return "/".join(filter(None, (self.task, self.asked_at, f"{self.round}.{step}")))


HEADING = "Tests After the Edits"
_NAMED = 10


class FormattedFile(Frozen):
    """A file of edits as the project's own formatter leaves it."""

    path: str
    before: str = Field(description="git's id of the file as it was edited")
    text: str


class TryOutcome(Frozen):
    """The outcome of the project's commands after some edits, beside the commit before them."""

    red: tuple[str, ...] = Field(default=(), description="what is newly red and goes back")
    summary: str = Field(default="", description="in a few words: `tests are red: 2 of 84`")
    words: str = Field(default="", description="what the commands said about it")
    green: tuple[str, ...] = Field(
        default=(), description="tests that failed before the edits and pass now"
    )
    ran: tuple[str, ...] = Field(
        default=(),
        description="commands with all of their tests, and how many ran, a sentence each",
    )
    untold: str = Field(default="", description="why some command tells nothing, a sentence")
    weakened: tuple[str, ...] = Field(
        default=(), description="tests that the edits delete, skip or weaken, a sentence each"
    )
    formatted: tuple[FormattedFile, ...] = Field(default=(), description="files of the edits")
    formatting: tuple[str, ...] = Field(default=(), description="by which command, as sentences")
    seconds: float = Field(default=0.0, description="how long the commands took; 0 if none ran")

    def redacted(self, strike: Callable[[str], str]) -> "TryOutcome":
        """Return the outcome with secrets struck out of the commands' words."""
        struck = any(strike(file.text) != file.text for file in self.formatted)
        outcome = self.replace(formatted=(), formatting=()) if struck else self
        return outcome.replace(
            red=tuple(map(strike, self.red)),
            words=strike(self.words),
            weakened=tuple(map(strike, self.weakened)),
        )


def with_tries(markdown: str, tries: Sequence[TryOutcome]) -> str:
    """Return a task's document with what our own process saw, in place of any such words in it."""
    section = _section(tries)
    return f"{without_section(markdown, HEADING).rstrip()}\n\n{section}" if section else markdown


def _section(tries: Sequence[TryOutcome]) -> str:
    """Return the section of a task's document about its tries; empty if they tell nothing."""
    if not tries:
        return ""
    last = tries[-1]
    facts = [f"- Weakens tests, which the reviewer judges: {fact}." for fact in last.weakened]
    facts += [f"- {fact}" for fact in last.formatting]
    lines = [f"## {HEADING}", "", "Our own process ran the project's commands on the edits.", ""]
    if not any(outcome.red for outcome in tries):
        green = ["- Nothing is newly red.", *_show_ran(last)]
        sentences = [*facts, *(green if last.ran and not last.untold else ())]
        return "\n".join([*lines, *sentences]) + "\n" if sentences else ""
    back = [outcome for outcome in tries[: -1 if last.red else None] if outcome.red]
    lines += [f"- Went back to the implementer: {outcome.summary}." for outcome in back]
    if last.red:
        lines += [f"- Still newly red: {named(last.red)}."]
    elif back:
        lines += ["- Nothing is newly red after the last edits.", *_show_ran(last)]
    lines += facts
    if last.red:
        lines += ["", "What the commands say:", "", last.words]
    return "\n".join(lines) + "\n"


def _show_ran(outcome: TryOutcome) -> list[str]:
    """Return the commands that ran, and the tests that turned green."""
    green = [f"- Red before the edits, green now: {named(outcome.green)}."] if outcome.green else []
    return [*(f"- {sentence}" for sentence in outcome.ran), *green]


def named(items: Sequence[str], most: int = _NAMED) -> str:
    """Return names of tests as code, the first of many."""
    shown = ", ".join(f"`{item.replace('`', chr(39))}`" for item in items[:most])
    more = len(items) - most
    return f"{shown} and {more} more" if more > 0 else shown


class StopReason(StrEnum):
    """The reason why the work ended. Only `answered` has an answer."""

    ANSWERED = "answered"
    ROUND_LIMIT = "round_limit"
    TOKEN_BUDGET = "token_budget"  # noqa: S105 - tokens of text, not a password
    DEADLINE = "deadline"
    MODEL_REFUSED = "model_refused"
    MODEL_TRUNCATED = "model_truncated"
    MODEL_MALFORMED = "model_malformed"
    MODEL_UNAVAILABLE = "model_unavailable"
    BUDGET = "budget"
    CONTEXT_WINDOW = "context_window"
    CALLS_STAND = "calls_stand"


class WorkResult(Frozen):
    """The end of the work, and its cost including the calls found in the journal."""

    stop: StopReason
    answer: Document | Change | None = None
    rejected: Document | Change | None = Field(
        default=None, description="the last answer that did not pass its check"
    )
    calls: tuple[CapabilityRequest, ...] = Field(
        default=(), description="calls that are not made within the conversation"
    )
    observations: tuple[CapabilityResult, ...] = Field(
        default=(), description="everything that was looked up or done for it"
    )
    usage: Usage = Usage()
    turns: int = 0
    complaints: tuple[str, ...] = Field(
        default=(), description="what was wrong with the last answer that was sent back"
    )
    tries: tuple[TryOutcome, ...] = Field(
        default=(), description="what the project's commands said of its edits, oldest first"
    )
    message: str = Field(default="", description="one sentence for people, unless answered")
    trouble: ModelTrouble | None = Field(default=None, description="why no model could be asked")


class ModelAsked(Frozen):
    """A question is sent. `reserved` is None when the price of this model is unknown."""

    turn: int
    model: str
    reserved: Decimal | None


class ModelAnswered(Frozen):
    """A reply came in; `again` if it was found in the journal and cost nothing now."""

    usage: Usage
    cost: Decimal | None
    again: bool = False


class RequestStarted(Frozen):
    """A lookup for the model starts."""

    capability: str
    params: str


class AnswerRejected(Frozen):
    """An answer is rejected and returned to the model."""

    text: str


class CallLost(Frozen):
    """A question was sent and is not answered any more; it may be billed."""

    usage: Usage


Notice = ModelAsked | ModelAnswered | RequestStarted | AnswerRejected | CallLost
