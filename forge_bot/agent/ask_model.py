"""Ask a model one question: from the journal if it was answered, in a batch, or at once.

A question of a batch is in the journal before it is handed in, and its ticket right after that. A
process that dies in between leaves a question without a ticket: then a person says whether it is
handed in again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from forge_bot.agent.assignment import (
    Assignment,
    CallLost,
    ModelAnswered,
    ModelAsked,
    Notice,
    StopReason,
)
from forge_bot.agent.capabilities import CapabilityRequest
from forge_bot.agent.journal import Journal, Parked
from forge_bot.agent.ledger import Ledger, Reserved
from forge_bot.agent.model_answers import AnswerKind
from forge_bot.agent.models.base import (
    ChatMessage,
    Model,
    ModelCall,
    ModelReply,
    PossiblyCharged,
    ReplayKey,
)
from forge_bot.errors import (
    BatchUnderWay,
    ContextTooLong,
    ForgeError,
    ModelUnavailable,
    QuestionRejected,
)
from forge_bot.remedies import ModelTrouble
from forge_bot.values import Usage

if TYPE_CHECKING:
    from forge_bot.agent.models.provider_batches import ProviderBatches


class BatchedCall(NamedTuple):
    """A question for a batch, its place in the journal, and the model's name."""

    key: str
    model: str
    call: ModelCall
    new: Sequence[ChatMessage]


class BatchLane(NamedTuple):
    """The batches of one run.

    `missing` gets the name of a model whose provider has no batches: it is asked at once, at the
    usual price.
    """

    now: Callable[[], datetime]
    missing: Callable[[str], None]


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


class Stopped(Exception):
    """The conversation ends without an answer, after these calls if it waits for them."""

    def __init__(
        self,
        reason: StopReason,
        message: str = "",
        *,
        trouble: ModelTrouble | None = None,
        calls: tuple[CapabilityRequest, ...] = (),
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.trouble = trouble
        self.calls = calls


@dataclass
class AskModel:
    """The model, journal, ledger and clock of one conversation. `unanswered` is what calls without
    an answer may cost.
    """

    assignment: Assignment
    model: Model
    journal: Journal
    ledger: Ledger
    notice: Callable[[Notice], None]
    now: Callable[[], float]
    lane: BatchLane | None
    images: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    unanswered: Usage = field(default_factory=Usage)
    _noted: int = 0
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.now()
        offers: ProviderBatches | None = getattr(self.model, "batches", None)
        self._batches = offers if self.lane is not None else None
        if self.lane is not None and offers is None:
            self.lane.missing(self.model.name)
        # The calls of a process that died before they were answered.
        for amount in self.journal.take_lost(self.assignment.place):
            self._settle_unanswered(f"{self.assignment.prefix}lost", amount)

    @property
    def seconds_left(self) -> float:
        """The time that is left for the conversation in this process."""
        return self.assignment.limits.seconds - (self.now() - self._began)

    async def reply(self, step: str, turn: int, messages: list[ChatMessage]) -> ModelReply:
        """Return the reply to `messages`, which become those that were sent if the journal has the
        question. `step` is `<turn>`, from the second try of a turn on `<turn>~<try>`. Raises
        Stopped.
        """
        key = self.assignment.prefix + step
        if sent := self.journal.sent(key):
            messages[self._noted :] = sent
        new, self._noted = messages[self._noted :], len(messages)
        if known := self.journal.answered(key):
            self.ledger.settle(key, known.usage.cost, known.usage.tokens)
            self.notice(ModelAnswered(usage=known.usage, cost=known.usage.cost, again=True))
            return known
        asked = BatchedCall(key, self.model.name, self._call(step, messages), new)
        reply = await self._answer_from_batch(asked)
        if reply is None:
            reply = await self._answer_in_time(asked, turn)
        self.notice(ModelAnswered(usage=reply.usage, cost=reply.usage.cost))
        return reply

    def _call(self, step: str, messages: Sequence[ChatMessage]) -> ModelCall:
        given = self.assignment
        # A record of documents stays one where a change may come with them.
        kind = AnswerKind.DOCUMENT if given.kind is AnswerKind.EITHER else given.kind
        return ModelCall(
            key=ReplayKey(given.agent, given.phase, given.round_text(step), kind.value),
            messages=tuple(messages),
            kind=given.kind,
            output_tokens=given.limits.output_tokens,
            tier=given.tier,
            images=self.images,
        )

    def _settle_unanswered(self, key: str, amount: Decimal) -> None:
        if amount:
            lost = Usage(unanswered=1, may_be_billed=amount)
            self.unanswered += lost
            self.notice(CallLost(usage=lost))
        self.ledger.settle(key, None, unanswered=amount)

    async def _answer_in_time(self, asked: BatchedCall, turn: int) -> ModelReply:
        clock = asyncio.timeout(self.seconds_left)
        try:
            async with clock:
                reserved = await self._reserve(asked)
                amount = reserved.amount if reserved.price_known else None
                self.notice(ModelAsked(turn=turn, model=asked.model, reserved=amount))
                self.journal.started(asked.key, asked.model, reserved.amount, asked.new)
                return await self._settle(asked, reserved, self._ask(asked))
        except TimeoutError:
            if not clock.expired():
                raise
            raise Stopped(
                StopReason.DEADLINE, "The time for this work was over before the model answered."
            ) from None

    async def _answer_from_batch(self, asked: BatchedCall) -> ModelReply | None:
        """Return the answer out of a batch; None if the provider offers none."""
        if self.lane is None or self._batches is None:
            return None
        reserved = await self._reserve(asked, batched=True)
        collected = self._collect(asked, self._batches, self.lane.now)
        try:
            return await self._settle(asked, reserved, collected)
        except Stopped as stopped:
            if isinstance(stopped.__cause__, PossiblyCharged):
                # The next process counts it with the calls that were never answered.
                self.journal.started(asked.key, asked.model, reserved.amount, ())
            raise

    async def _collect(
        self, asked: BatchedCall, api: "ProviderBatches", now: Callable[[], datetime]
    ) -> ModelReply:
        """Return the answer, if the batch of this question has ended.

        Raises BatchUnderWay, and ModelUnavailable if the question was handed in in vain.
        """
        parked = self.journal.parked(asked.key)
        if parked is None:
            parked = await self._hand_in(asked, api, now())
        elif parked.ticket is None:
            self._withdraw(parked, "its process ended")
            since = _minute(parked.at)
            raise PossiblyCharged(
                f"The process that handed in a batch to {asked.model} at {since} ended before "
                "it heard whether it was taken in. `resume` hands the question in again."
            )
        else:
            answer = await api.collect(parked.ticket, parked.question, asked.call)
            if isinstance(answer, ModelReply):
                return answer
            if answer is not None:
                self._withdraw(parked, answer.words)
                raise (PossiblyCharged if answer.paid else ModelUnavailable)(
                    f"The batch {parked.ticket.id} of {parked.model} has no answer: {answer.words}."
                )
        name, since = parked.ticket.id if parked.ticket else "", _minute(parked.at)
        raise BatchUnderWay(
            f"A question waits in the batch {name} of {parked.model} since {since}."
        )

    async def _hand_in(self, asked: BatchedCall, api: "ProviderBatches", at: datetime) -> Parked:
        """Hand the question in once; return it with its ticket."""
        question, messages = uuid4().hex, tuple(asked.new)
        parked = Parked(
            key=asked.key, model=asked.model, question=question, at=at, messages=messages
        )
        self.journal.park(parked)
        try:
            ticket = await api.submit(question, asked.call)
        except ForgeError as error:
            self._withdraw(parked, str(error))
            raise
        taken_in = parked.replace(ticket=ticket, messages=())
        self.journal.park(taken_in)
        return taken_in

    def _withdraw(self, parked: Parked, why: str) -> None:
        self.journal.failed(parked.key, why, paid=False, question=parked.question)

    async def _ask(self, asked: BatchedCall) -> ModelReply:
        try:
            return await self.model.ask(asked.call)
        except ForgeError as error:
            paid = isinstance(error, PossiblyCharged)
            self.journal.failed(asked.key, error.message, paid=paid)
            raise

    async def _settle(
        self, asked: BatchedCall, reserved: Reserved, answering: Awaitable[ModelReply]
    ) -> ModelReply:
        """Record an answer, and replace what was reserved for it by what it costs. Raises Stopped
        where the model gives none.
        """
        key, began, usage, is_lost = asked.key, self.now(), Usage(cost=None), True
        try:
            reply = await answering
            duration, is_lost = int((self.now() - began) * 1000), False
            model = reply.usage.model or self.model.name
            usage = reply.usage.replace(duration_ms=duration, calls=1, model=model)
            return self.journal.finished(key, reply.replace(usage=usage))
        except (ModelUnavailable, ContextTooLong, QuestionRejected) as error:
            is_lost = isinstance(error, PossiblyCharged)
            raise self._name_stop(error) from error
        except ForgeError:
            is_lost = False
            raise
        finally:
            if is_lost:
                self._settle_unanswered(key, reserved.amount)
            else:
                self.ledger.settle(key, usage.cost, usage.tokens)

    async def _reserve(self, asked: BatchedCall, *, batched: bool = False) -> Reserved:
        """Reserve the worst case of a call. Raises Stopped where it must not begin."""
        messages, most = asked.call.messages, asked.call.output_tokens
        try:
            reserved = await self.ledger.reserve(
                asked.key, asked.model, messages, most, batched=batched
            )
        except ModelUnavailable as error:
            raise self._name_stop(error) from error
        if reserved is None:
            raise Stopped(
                StopReason.BUDGET, "The next question could cost more than the budget has left."
            )
        return reserved

    def _name_stop(self, error: ForgeError) -> Stopped:
        """Return how the conversation ends for an error of the model; a limit is one for all."""
        trouble = None
        if isinstance(error, ModelUnavailable):
            self.ledger.close(error)
            trouble = error.trouble
        too_long = isinstance(error, ContextTooLong)
        reason = StopReason.CONTEXT_WINDOW if too_long else StopReason.MODEL_UNAVAILABLE
        return Stopped(reason, error.message, trouble=trouble)
