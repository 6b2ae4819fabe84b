"""What the tests of this room share: short ways to write answers, assignments, and a model that
says what it is told.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from forge_bot.agent.assignment import Assignment, Notice, Opening, WorkLimits, WorkResult
from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, ResultStatus
from forge_bot.agent.converse import converse
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger
from forge_bot.agent.model_answers import AnswerKind, Work
from forge_bot.agent.models.base import (
    ChatMessage,
    FinishReason,
    MessageRole,
    ModelCall,
    ModelReply,
)
from forge_bot.engine.budget import Budget
from forge_bot.values import PhaseId, TaskId, Usage

Params = Mapping[str, object]


def explore(*requests: tuple[str, Params]) -> str:
    """An Explore as a provider with native output writes it."""
    asked = [
        {"provider": name, "params_json": json.dumps(params), "reasoning": ""}
        for name, params in requests
    ]
    return json.dumps({"result": {"kind": "Explore", "data": {"requests": asked, "actions": []}}})


def document(text: str = "# Done\n") -> str:
    """A finished document."""
    return json.dumps({"result": {"kind": "Document", "data": {"artifact_markdown": text}}})


def assignment(
    *,
    kind: AnswerKind = AnswerKind.DOCUMENT,
    task: str = "",
    action: str = "a1",
    limits: WorkLimits | None = None,
) -> Assignment:
    """Work for an analyst who may read."""
    return Assignment(
        action_id=action,
        agent="analyst",
        phase=PhaseId("phase-1"),
        task=TaskId(task) if task else None,
        kind=kind,
        providers=("look", "read_file"),
        limits=limits or WorkLimits(),
    )


OPENING = (
    ChatMessage(role=MessageRole.SYSTEM, text="You analyse."),
    ChatMessage(role=MessageRole.USER, text="Analyse this."),
)


async def opening() -> tuple[ChatMessage, ...]:
    """The first messages to the analyst."""
    return OPENING


@dataclass
class Speaker:
    """A model that says these texts in order; a Reply or an error stands for itself."""

    says: Sequence[str | ModelReply | Exception]
    name: str = "scripted:test"
    calls: list[ModelCall] = field(default_factory=list[ModelCall])

    async def ask(self, call: ModelCall) -> ModelReply:
        said = self.says[min(len(self.calls), len(self.says) - 1)]
        self.calls.append(call)
        if isinstance(said, Exception):
            raise said
        return (
            said
            if isinstance(said, ModelReply)
            else ModelReply(text=said, usage=Usage(input_tokens=100, output_tokens=10))
        )


@dataclass
class Library:
    """Answers every request with its own parameters, or as `look` says; and remembers what was
    asked.
    """

    look: Callable[[CapabilityRequest], CapabilityResult] | None = None
    asked: list[str] = field(default_factory=list[str])

    def fetch(self, wanted: CapabilityRequest, limits: WorkLimits) -> CapabilityResult:
        self.asked.append(wanted.key)
        return self.look(wanted) if self.look else seen(wanted, f"seen {wanted.params}")


def seen(
    wanted: CapabilityRequest, content: str, status: ResultStatus = ResultStatus.OK
) -> CapabilityResult:
    """An observation of what was wanted."""
    return CapabilityResult(
        key=wanted.key,
        capability=wanted.capability,
        params=wanted.params,
        status=status,
        content=content,
    )


def cut(text: str) -> ModelReply:
    """A reply that hit the output limit."""
    return ModelReply(text=text, finish=FinishReason.LENGTH)


def accept(_: Work) -> Sequence[str]:
    """A check that takes everything."""
    return ()


def priced(cap: str | None, worst: str | None) -> Ledger:
    """A ledger for models whose every call costs at most `worst`, or nobody knows what."""

    def price(model: str, input_tokens: int, output_tokens: int) -> Decimal | None:
        return Decimal(worst) if worst else None

    return Ledger(Budget(cap=Decimal(cap) if cap else None), price)


def still() -> float:
    """A clock that stands."""
    return 0.0


@dataclass
class Room:
    """A desk with a journal of its own, to put a model to work at."""

    path: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])
    ledger: Ledger = field(default_factory=lambda: Ledger(Budget()))
    library: Library = field(default_factory=Library)
    notices: list[Notice] = field(default_factory=list[Notice])
    now: Callable[[], float] = still

    async def work(
        self,
        model: Speaker,
        given: Assignment | None = None,
        check: Callable[[Work], Sequence[str]] = accept,
        first: Opening = opening,
    ) -> WorkResult:
        return await converse(
            given or assignment(),
            first,
            model=model,
            context=self.library,
            journal=Journal(self.path, self.environ),
            ledger=self.ledger,
            check=check,
            notice=self.notices.append,
            now=self.now,
        )
