"""Questions of one run on their way into a provider's batch, and their answers on the way back.

Each is in the journal before it is handed in. So a process that dies in between leaves its id, by
which the next one finds the batch: nothing is handed in twice.
"""

import asyncio
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import uuid4

from forge_bot.agent.journal import Journal
from forge_bot.agent.journal_entries import Parked
from forge_bot.agent.models.base import ChatMessage, ModelCall, ModelReply, PossiblyCharged
from forge_bot.agent.models.batch_api import (
    BatchApi,
    BatchQuestion,
    BatchRefused,
    BatchTicket,
    BatchUnclear,
    Unanswered,
)
from forge_bot.agent.shared_batches import HandIn
from forge_bot.errors import BatchUnderWay, ForgeError, ModelUnavailable
from forge_bot.sentences import say

MOST_ATTEMPTS = 3
"""Times that a question is handed in before a person has to say so again."""

_CLOCKS_APART = timedelta(minutes=10)
"""The largest assumed difference between the provider's clock and ours."""

_ON_ITS_WAY = timedelta(minutes=1)
"""A batch that a dead process sent may appear this much later."""

_SENDING = timedelta(minutes=15)
"""The longest time that handing in a batch can take."""


class BatchedCall(NamedTuple):
    """A question for a batch, its place in the journal, and the model's name."""

    key: str
    prompt: str
    model: str
    call: ModelCall
    new: Sequence[ChatMessage]


class _Waiting(NamedTuple):
    """A question that waits until its batch is complete."""

    asked: BatchedCall
    api: BatchApi
    parked: Parked
    done: asyncio.Future[None]


class BatchLane:
    """The batches of one run in this process. It belongs to one event loop.

    `keep` commits the journal's travelling file to the branch, and is called in threads. `missing`
    gets the name of a model whose provider has no batches: it is asked at once, at the usual price.
    `hand_in` may add other runs' questions to the same batch.
    """

    def __init__(
        self,
        journal: Journal,
        keep: Callable[[], None],
        now: Callable[[], datetime],
        missing: Callable[[str], None],
        hand_in: HandIn,
    ) -> None:
        self.missing = missing
        self._hand_in = hand_in
        self._journal = journal
        self._keep = keep
        self._now = now
        self._at_work: set[str] = set()
        self._waiting: list[_Waiting] = []
        self._sending: set[asyncio.Task[None]] = set()

    @contextmanager
    def at_work(self, prefixes: Iterable[str]) -> Generator[None]:
        """Let these agents share batches: one is handed in when each of them has asked or left."""
        self._at_work |= set(prefixes)
        for prefix in self._at_work:
            self._journal.carry(prefix)
        try:
            yield
        finally:
            self._at_work.clear()

    def leave(self, prefix: str) -> None:
        """Wait for this agent no more: it asks nothing now."""
        self._at_work.discard(prefix)
        self._hand_in_if_complete()

    async def reply(self, asked: BatchedCall, api: BatchApi) -> ModelReply:
        """Return the answer, if the batch of this question has ended.

        Raises BatchUnderWay, BatchRefused if the provider offers none, and ModelUnavailable if the
        question was handed in in vain.
        """
        attempt = 1
        parked = self._journal.parked(asked.key, asked.prompt)
        if parked is not None and (ticket := await self._ticket(asked, api, parked)) is not None:
            question = BatchQuestion(id=parked.question, call=asked.call)
            found = await api.collect(ticket, (question,))
            if found is None:
                raise _under_way((parked,), ticket)
            answer = found[parked.question]
            if isinstance(answer, ModelReply):
                return answer
            self._journal.withdrawn(asked.key, asked.prompt, parked.question, answer.words)
            attempt = self._next_attempt(parked, answer, ticket)
        await self._handed_in(asked, api, attempt)
        raise AssertionError

    def _next_attempt(self, parked: Parked, answer: Unanswered, ticket: BatchTicket) -> int:
        if answer.again and parked.attempt < MOST_ATTEMPTS:
            return parked.attempt + 1
        times = "" if parked.attempt == 1 else f" It was handed in {parked.attempt} times."
        raise (PossiblyCharged if answer.paid else ModelUnavailable)(
            f"The batch {ticket.id} of {parked.model} has no answer: {answer.words}.{times}"
        )

    async def _ticket(
        self, asked: BatchedCall, api: BatchApi, parked: Parked
    ) -> BatchTicket | None:
        """Return the question's batch. None: it was certainly not handed in."""
        if parked.ticket is not None:
            return parked.ticket
        question = BatchQuestion(id=parked.question, call=asked.call)
        since, until = parked.at - _CLOCKS_APART, parked.at + _SENDING + _CLOCKS_APART
        with suppress(BatchUnclear):
            try:
                ticket = await api.find(question, since, until)
            except BatchRefused as refused:
                # A provider that knows no batches has taken in none.
                words = str(refused)
                self._journal.withdrawn(asked.key, asked.prompt, parked.question, words)
                raise
            if ticket is not None:
                self._journal.submitted(asked.key, asked.prompt, parked.question, ticket)
                return ticket
            if self._now() > parked.at + _ON_ITS_WAY:
                self._journal.withdrawn(asked.key, asked.prompt, parked.question, "never arrived")
                return None
        raise _under_way((parked,), None)

    async def _handed_in(self, asked: BatchedCall, api: BatchApi, attempt: int) -> None:
        """Wait until the question is handed in; always raises why there is no answer yet."""
        parked = Parked(
            key=asked.key, model=asked.model, question=uuid4().hex, at=self._now(), attempt=attempt
        )
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(asked, api, parked, done))
        self._hand_in_if_complete()
        await done

    def _hand_in_if_complete(self) -> None:
        self._waiting = [each for each in self._waiting if not each.done.cancelled()]
        asking = {each.asked.key.partition("#")[0] + "#" for each in self._waiting}
        if not self._waiting or not self._at_work <= asking:
            return
        ready, self._waiting = self._waiting, []
        task = asyncio.create_task(self._send_all(ready))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send_all(self, ready: Sequence[_Waiting]) -> None:
        models = dict.fromkeys(each.asked.model for each in ready)
        for model in models:
            same = [each for each in ready if each.asked.model == model]
            most = same[0].api.most
            for start in range(0, len(same), most):
                await self._send(same[start : start + most])

    async def _send(self, group: Sequence[_Waiting]) -> None:
        error: Exception
        try:
            for each in group:
                asked = each.asked
                self._journal.submitting(asked.key, asked.prompt, each.parked, asked.new)
            await asyncio.to_thread(self._keep)
            api = group[0].api
            questions = await api.encode(
                [BatchQuestion(id=each.parked.question, call=each.asked.call) for each in group]
            )
            ticket = await self._hand_in(api, questions)
            for each in group:
                asked = each.asked
                self._journal.submitted(asked.key, asked.prompt, each.parked.question, ticket)
            error = _under_way([each.parked for each in group], ticket)
        except BatchUnclear:
            error = _under_way([each.parked for each in group], None)
        except (ForgeError, BatchRefused) as refused:
            for each in group:
                asked, words = each.asked, str(refused)
                self._journal.withdrawn(asked.key, asked.prompt, each.parked.question, words)
            error = refused
        # Any other error is raised where the answer is awaited.
        except Exception as unexpected:  # noqa: BLE001 - see above
            error = unexpected
        for each in group:
            if not each.done.done():
                each.done.set_exception(error)


async def cancel_batches(
    parked: Iterable[Parked], batches: Callable[[str], BatchApi | None]
) -> tuple[str, ...]:
    """Ask the providers to cancel these questions' batches; return those not cancelled."""
    tickets = {each.ticket.id: each for each in parked if each.ticket is not None}
    going_on: list[str] = []
    for name, each in tickets.items():
        try:
            api = batches(each.model)
            if api is None or each.ticket is None:
                going_on.append(name)
            else:
                await api.cancel(each.ticket)
        except ForgeError:
            going_on.append(name)
    return tuple(going_on)


def _under_way(parked: Sequence[Parked], ticket: BatchTicket | None) -> BatchUnderWay:
    first = parked[0]
    since = f"{first.at:%Y-%m-%d %H:%M} UTC"
    if ticket is None:
        return BatchUnderWay(
            say(
                "agent.batched_questions.whether_took_in_batch_of_is_not_known",
                model=first.model,
                since=since,
            )
        )
    many = f"{len(parked)} questions wait" if len(parked) > 1 else "A question waits"
    return BatchUnderWay(
        say(
            "agent.batched_questions.in_batch_of_since",
            many=many,
            id=ticket.id,
            model=first.model,
            since=since,
        )
    )
