"""Ask one question in one batch of its provider, and collect the answer.

The question is in the journal before it is handed in, and its ticket right after that. A process
that dies in between leaves a question without a ticket: then a person says whether it is handed in
again.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from forge_bot.agent.journal import Journal, Parked
from forge_bot.agent.models.base import (
    BatchQuestion,
    BatchRefused,
    BatchTicket,
    ChatMessage,
    ModelCall,
    ModelReply,
    PossiblyCharged,
)
from forge_bot.errors import BatchUnderWay, ForgeError, ModelUnavailable

if TYPE_CHECKING:
    from forge_bot.agent.models.provider_batches import ProviderBatches


class BatchedCall(NamedTuple):
    """A question for a batch, its place in the journal, and the model's name."""

    key: str
    model: str
    call: ModelCall
    new: Sequence[ChatMessage]


class BatchLane:
    """The batches of one run.

    `missing` gets the name of a model whose provider has no batches: it is asked at once, at the
    usual price.
    """

    def __init__(
        self, journal: Journal, now: Callable[[], datetime], missing: Callable[[str], None]
    ) -> None:
        self.missing = missing
        self._journal = journal
        self._now = now

    async def reply(self, asked: BatchedCall, api: "ProviderBatches") -> ModelReply:
        """Return the answer, if the batch of this question has ended.

        Raises BatchUnderWay, BatchRefused if the provider offers none, and ModelUnavailable if the
        question was handed in in vain.
        """
        parked = self._journal.parked(asked.key)
        if parked is None:
            parked = await self._hand_in(asked, api)
        elif parked.ticket is None:
            self._withdraw(asked, parked, "its process ended")
            since = _minute(parked.at)
            raise PossiblyCharged(
                f"The process that handed in a batch to {asked.model} at {since} ended before "
                "it heard whether it was taken in. `resume` hands the question in again."
            )
        else:
            question = BatchQuestion(id=parked.question, call=asked.call)
            answer = await api.collect(parked.ticket, question)
            if isinstance(answer, ModelReply):
                return answer
            if answer is not None:
                self._withdraw(asked, parked, answer.words)
                raise (PossiblyCharged if answer.paid else ModelUnavailable)(
                    f"The batch {parked.ticket.id} of {parked.model} has no answer: {answer.words}."
                )
        raise _under_way(parked)

    async def _hand_in(self, asked: BatchedCall, api: "ProviderBatches") -> Parked:
        """Hand the question in once; return it with its ticket."""
        parked = Parked(key=asked.key, model=asked.model, question=uuid4().hex, at=self._now())
        self._journal.handed_in(asked.key, parked, asked.new)
        try:
            ticket = await api.submit(BatchQuestion(id=parked.question, call=asked.call))
        except (ForgeError, BatchRefused) as error:
            self._withdraw(asked, parked, str(error))
            raise
        self._journal.submitted(asked.key, parked.question, ticket)
        return parked.replace(ticket=ticket)

    def _withdraw(self, asked: BatchedCall, parked: Parked, why: str) -> None:
        self._journal.failed(asked.key, why, paid=False, question=parked.question)


def cancel_batches(
    tickets: Iterable[tuple[str, BatchTicket]], batches: "Callable[[str], ProviderBatches | None]"
) -> tuple[str, ...]:
    """Ask the providers to cancel the batches of these models; return those not cancelled."""
    running: list[str] = []
    for model, ticket in tickets:
        try:
            api = batches(model)
            if api is None:
                running.append(ticket.id)
            else:
                asyncio.run(api.cancel(ticket))
        except ForgeError:
            running.append(ticket.id)
    return tuple(running)


def _under_way(parked: Parked) -> BatchUnderWay:
    name, since = parked.ticket.id if parked.ticket else "", _minute(parked.at)
    return BatchUnderWay(f"A question waits in the batch {name} of {parked.model} since {since}.")


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
