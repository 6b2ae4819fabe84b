"""Notifications that an interface may show while a run continues."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from forge_bot.agent.assignment import ModelAsked
from forge_bot.agent.assignment import Notice as ModelNotice
from forge_bot.engine.budget import Budget
from forge_bot.values import CommandName, CommandResult, Frozen, PhaseId, TaskId, Usage, Verdict


class PhaseBegan(Frozen):
    """An action is being performed."""

    phase: PhaseId
    label: str
    agent: str = ""
    tasks: tuple[TaskId, ...] = ()
    round: int = 1


class PhaseEnded(Frozen):
    """An action was performed and recorded."""

    phase: PhaseId
    label: str
    result: str
    usage: Usage
    task: TaskId | None = None
    verdict: Verdict | None = None
    good: bool = True


class PromptSent(Frozen):
    """The first prompt of an agent."""

    inputs: tuple[str, ...]
    tokens: int
    task: TaskId | None = None
    dropped: tuple[str, ...] = ()
    removed: str = ""


class CommandBegan(Frozen):
    """One of the project's commands runs."""

    name: CommandName
    argv: tuple[str, ...]


RedMeaning = Literal["new", "before", "wanted"]
"""What a failure means: something new fails, it failed before the change too, or the tests of a
change fail without its code, as they should.
"""


class CommandEnded(Frozen):
    """It ended."""

    result: CommandResult
    red: RedMeaning = "new"


SaidKind = Literal["note", "warning"]


class Message(Frozen):
    """Something a person should know."""

    text: str
    kind: SaidKind = "note"


def warning(text: str) -> Message:
    """Return what a person should act on."""
    return Message(text=text, kind="warning")


class Explained(Frozen):
    """A question of a person was answered."""

    answer: str = Field(description="Markdown")


class Thinking(Frozen):
    """Something about a model at work."""

    notice: ModelNotice
    task: TaskId | None = None


Notice = (
    PhaseBegan
    | PhaseEnded
    | PromptSent
    | CommandBegan
    | CommandEnded
    | Message
    | Explained
    | Thinking
)
Notify = Callable[[Notice], None]


class TellThinking:
    """Tells what happens about the models of a run; once, where a budget in money alone limits
    them, that one has no known price.
    """

    def __init__(self, tell: Notify, budget: Budget) -> None:
        self._tell = tell
        self._warns = budget.ignores_unknown_prices

    def __call__(self, notice: ModelNotice, task: TaskId | None = None) -> None:
        """Pass a notice on."""
        if self._warns and isinstance(notice, ModelAsked) and notice.reserved is None:
            self._warns = False
            words = "so a budget in US dollars does not limit it; one in tokens does, such as"
            self._tell(
                warning(f"the price of {notice.model} is unknown, {words} --budget 200000tokens")
            )
        self._tell(Thinking(notice=notice, task=task))


def log_line(notice: Notice) -> Message | None:
    """Return the line of a log for a notice; None for a notice that is too minor."""
    match notice:
        case PhaseBegan():
            return Message(text=f"{notice.label} {' '.join(notice.tasks)}".strip())
        case PhaseEnded():
            verdict = f": {notice.verdict.value}" if notice.verdict is not None else ""
            return Message(text=f"{notice.label} → {notice.result}{verdict}")
        case CommandEnded():
            words = " ".join(notice.result.argv)
            return Message(text=f"{words}: exit code {notice.result.exit_code}")
        case Message():
            return notice
        case PromptSent() | CommandBegan() | Thinking() | Explained():
            return None
