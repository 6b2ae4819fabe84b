"""Run the conversation of conversation.py with a real model, journal and repository."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from forge_bot.agent.assignment import Assignment, Opening, StopReason, WorkResult
from forge_bot.agent.batched_questions import BatchedCall, BatchLane
from forge_bot.agent.conversation import (
    AskModel,
    Conversation,
    Failure,
    Fetch,
    Judge,
    Stop,
    Try,
    begin,
    fetched,
    judged,
    next_effect,
    replied,
    tried,
)
from forge_bot.agent.fulfil_requests import ContextPort, Fulfilment
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger, LedgerCrowded
from forge_bot.agent.model_answers import Work
from forge_bot.agent.models.base import (
    BatchRefused,
    ChatMessage,
    Model,
    ModelCall,
    ModelReply,
    PossiblyCharged,
    ReplayKey,
)
from forge_bot.agent.progress_events import (
    AnswerRejected,
    ModelAnswered,
    ModelAsked,
    Notice,
)
from forge_bot.agent.tries import TryOutcome
from forge_bot.errors import (
    BatchUnderWay,
    ContextTooLong,
    ForgeError,
    ModelUnavailable,
    QuestionRejected,
)
from forge_bot.values import Usage

if TYPE_CHECKING:
    from forge_bot.agent.models.provider_batches import ProviderBatches

Check = Callable[[Work], Sequence[str]]
RunCommands = Callable[[Try], TryOutcome]


async def work(
    assignment: Assignment,
    opening: Opening,
    *,
    model: Model,
    context: ContextPort,
    journal: Journal,
    ledger: Ledger,
    check: Check,
    run_commands: RunCommands | None = None,
    notice: Callable[[Notice], None],
    now: Callable[[], float],
    leave_actions: bool = False,
    lane: BatchLane | None = None,
) -> WorkResult:
    """Ask, look up and ask again until `check` accepts an answer or a limit is reached. What the
    journal has is neither asked nor looked up again: the conversation goes on from there, with the
    messages that were sent.

    `check` returns complaints that the model can act on. `run_commands` returns the results of the
    project's commands on edits, if the limits allow it. `now` is a clock in seconds.

    Set-up errors (no key, unknown model) and an exhausted record are raised; every other failure of
    a model is a stop reason. With `leave_actions` ActionsWanted is raised until tools and skills
    that were asked for have results in the journal. With `lane` questions go into batches, if the
    provider offers them, and BatchUnderWay is raised until they are answered.
    """
    run = _AssignmentRun(assignment, model, journal, ledger, notice, now, lane)
    requests = Fulfilment(assignment, context, journal, ledger, notice, now, leave_actions)
    run.charge_unsettled()
    x = begin(assignment, journal.sent(f"{assignment.prefix}1") or await opening())
    while True:
        effect = next_effect(x, run.elapsed)
        match effect:
            case AskModel():
                x = x.replace(messages=run.as_sent(effect))
                asked = effect.replace(messages=x.messages)
                x = run.notify_rejection(x, replied(x, await run.ask(asked)))
            case Fetch():
                x = fetched(x, await requests.fulfil(effect.wanted))
            case Judge():
                complaints = tuple(await asyncio.to_thread(check, effect.answer))
                x = run.notify_rejection(x, judged(x, complaints))
            case Try():
                x = tried(x, await run.try_edits(effect, run_commands))
            case Stop():
                paid = journal.unread(assignment.place)
                return _finished(x, effect, run.unanswered + paid)


def _finished(x: Conversation, stop: Stop, beside: Usage) -> WorkResult:
    return WorkResult(
        stop=stop.reason,
        calls=stop.calls,
        observations=x.observations,
        answer=stop.answer,
        rejected=None if stop.answer else x.rejected,
        usage=x.usage + x.elsewhere.replace(model="") + beside,
        turns=x.turn,
        complaints=x.complaints,
        tries=x.tries,
        message=stop.message,
        trouble=stop.trouble,
    )


def _too_expensive() -> Failure:
    return Failure(
        reason=StopReason.BUDGET,
        message="The next question could cost more than the budget has left.",
    )


def _failure(error: ForgeError) -> Failure:
    """Return how the work ends for an error of the model."""
    reason = (
        StopReason.CONTEXT_WINDOW
        if isinstance(error, ContextTooLong)
        else StopReason.MODEL_UNAVAILABLE
    )
    trouble = error.trouble if isinstance(error, ModelUnavailable) else None
    return Failure(reason=reason, message=error.message, trouble=trouble)


@dataclass
class _AssignmentRun:
    """The model, journal, ledger and clock that one assignment uses."""

    assignment: Assignment
    model: Model
    journal: Journal
    ledger: Ledger
    notice: Callable[[Notice], None]
    now: Callable[[], float]
    lane: BatchLane | None
    unanswered: Usage = field(default_factory=Usage)
    _noted: int = 0
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.now()
        offers: ProviderBatches | None = getattr(self.model, "batches", None)
        self._batches = offers if self.lane is not None else None
        if self.lane is not None and offers is None:
            self.lane.missing(self.model.name)

    @property
    def elapsed(self) -> float:
        """The seconds since the work began here."""
        return self.now() - self._began

    def charge_unsettled(self) -> None:
        """Count the calls of a process that died before they were answered."""
        for amount in self.journal.take_lost(self.assignment.place):
            self._settle_unanswered(f"{self.assignment.prefix}lost", amount)

    def _settle_unanswered(self, key: str, amount: Decimal) -> None:
        if amount:
            self.unanswered += Usage(unanswered=1, may_be_billed=amount)
        self.ledger.settle(key, None, unanswered=amount)

    def notify_rejection(self, before: Conversation, after: Conversation) -> Conversation:
        """Notify the face when an answer is rejected."""
        if after.complaints and after.complaints is not before.complaints:
            self.notice(AnswerRejected(text=after.complaints[0]))
        return after

    def as_sent(self, effect: AskModel) -> tuple[ChatMessage, ...]:
        """Return the messages of a question, as they were sent if it was answered before."""
        sent = self.journal.sent(self.assignment.prefix + effect.step)
        return (*effect.messages[: self._noted], *sent) if sent else effect.messages

    async def ask(self, effect: AskModel) -> ModelReply | Failure:
        """Return the reply, from the journal if it is there."""
        call = self._call(effect)
        key = self.assignment.prefix + effect.step
        new, self._noted = effect.messages[self._noted :], len(effect.messages)
        if known := self.journal.answered(key):
            self.ledger.settle(key, known.usage.cost, known.usage.tokens)
            self.notice(ModelAnswered(usage=known.usage, cost=known.usage.cost, again=True))
            return known
        asked = BatchedCall(key, self.model.name, call, new)
        reply = await self._batched(asked) if self._batches is not None else None
        if reply is None:
            reply = await self._in_time(self._asked(effect.turn, call, key, new))
        if isinstance(reply, ModelReply):
            self.notice(ModelAnswered(usage=reply.usage, cost=reply.usage.cost))
        return reply

    async def try_edits(self, effect: Try, run_commands: RunCommands | None) -> TryOutcome:
        """Return the outcome of a try, from the journal if it is there."""
        key = f"{self.assignment.prefix}{effect.step}/tried"
        if (known := self.journal.tried(key)) is not None:
            return known
        if run_commands is None:
            return TryOutcome()
        return self.journal.tried_now(key, await asyncio.to_thread(run_commands, effect))

    def _call(self, effect: AskModel) -> ModelCall:
        work_ = self.assignment
        key = ReplayKey(work_.agent, work_.phase, work_.round_text(effect.step), work_.kind.value)
        return ModelCall(
            key=key,
            messages=effect.messages,
            kind=work_.kind,
            output_tokens=work_.limits.output_tokens,
            tier=work_.tier,
        )

    async def _in_time(
        self, asked: Coroutine[None, None, ModelReply | Failure]
    ) -> ModelReply | Failure:
        clock = asyncio.timeout(self.assignment.limits.seconds - self.elapsed)
        try:
            async with clock:
                return await asked
        except TimeoutError:
            if not clock.expired():
                raise
            return Failure(
                reason=StopReason.DEADLINE,
                message="The time for this work was over before the model answered.",
            )

    async def _batched(self, asked: BatchedCall) -> ModelReply | Failure | None:
        """Return the answer out of a batch; None if the provider offers none after all."""
        if self.lane is None or self._batches is None:
            return None
        try:
            reserved = await self.ledger.reserve(
                asked.key, asked.model, asked.call.messages, asked.call.output_tokens, batched=True
            )
        except LedgerCrowded:
            raise BatchUnderWay(
                "The next question has to wait: what others in a batch may cost is reserved."
            ) from None
        if reserved is None:
            return _too_expensive()
        began = self.now()
        try:
            reply = self._timed(await self.lane.reply(asked, self._batches), began)
        except BatchRefused:
            self._batches = None
            self.ledger.settle(asked.key, None)
            self.lane.missing(self.model.name)
            return None
        except (ModelUnavailable, ContextTooLong, QuestionRejected) as error:
            if isinstance(error, PossiblyCharged):
                # The next process counts it with the calls that were never answered.
                self.journal.started(asked.key, asked.model, reserved.amount, ())
                self._settle_unanswered(asked.key, reserved.amount)
            else:
                self.ledger.settle(asked.key, None)
            return _failure(error)
        self.ledger.settle(asked.key, reply.usage.cost, reply.usage.tokens)
        return self.journal.finished(asked.key, reply)

    async def _asked(
        self, turn: int, call: ModelCall, key: str, new: Sequence[ChatMessage]
    ) -> ModelReply | Failure:
        reserved = await self.ledger.reserve(
            key, self.model.name, call.messages, call.output_tokens
        )
        if reserved is None:
            return _too_expensive()
        self.notice(
            ModelAsked(
                turn=turn,
                model=self.model.name,
                reserved=reserved.amount if reserved.price_known else None,
            )
        )
        self.journal.started(key, self.model.name, reserved.amount, new)
        cost, tokens, is_lost = None, 0, True
        try:
            began = self.now()
            reply = self._timed(await self.model.ask(call), began)
            cost, tokens, is_lost = reply.usage.cost, reply.usage.tokens, False
            return self.journal.finished(key, reply)
        except (ModelUnavailable, ContextTooLong, QuestionRejected) as error:
            is_lost = isinstance(error, PossiblyCharged)
            self.journal.failed(key, error.message, paid=is_lost)
            return _failure(error)
        except ForgeError as error:
            is_lost = False
            self.journal.failed(key, error.message, paid=False)
            raise
        finally:
            if is_lost:
                self._settle_unanswered(key, reserved.amount)
            else:
                self.ledger.settle(key, cost, tokens)

    def _timed(self, reply: ModelReply, began: float) -> ModelReply:
        duration = int((self.now() - began) * 1000)
        usage = reply.usage.replace(
            duration_ms=duration, calls=1, model=reply.usage.model or self.model.name
        )
        return reply.replace(usage=usage)
