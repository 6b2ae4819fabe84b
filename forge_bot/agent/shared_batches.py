"""Batches that several runs of one process hand in together, each from a thread of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future

from forge_bot.agent.models.batch_api import BatchApi, BatchTicket, BatchUnclear, EncodedQuestion

HandIn = Callable[[BatchApi, Sequence[EncodedQuestion]], Awaitable[BatchTicket]]
"""Hands in questions of one group; it raises what `BatchApi.submit` raises."""


async def hand_in_alone(api: BatchApi, questions: Sequence[EncodedQuestion]) -> BatchTicket:
    """Hand in the questions as a batch of their own."""
    return await api.submit(questions)


class _NotHandedIn(Exception):
    """The run that was to hand in a batch was stopped before it did."""


class _Gathering:
    """A batch that waits for more questions, and the runs that joined it."""

    def __init__(self) -> None:
        self.questions: list[EncodedQuestion] = []
        self.joined: list[Future[BatchTicket]] = []

    def tell(self, outcome: BatchTicket | Exception) -> None:
        """Pass the result to all that joined, except those that were stopped meanwhile."""
        for each in self.joined:
            if not each.set_running_or_notify_cancel():
                continue
            if isinstance(outcome, Exception):
                each.set_exception(outcome)
            else:
                each.set_result(outcome)


class GatheredBatches:
    """Gathers the questions that runs ask within this number of seconds into one batch for each
    group.

    The run whose question came first hands them in; if it is stopped before, another run does. Each
    run has recorded the ids of its questions before. So after a crash or a lost answer each finds
    its batch by itself.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._open: dict[str, _Gathering] = {}

    async def hand_in(self, api: BatchApi, questions: Sequence[EncodedQuestion]) -> BatchTicket:
        """Hand in questions of one group with those of other runs; return their common batch."""
        group = questions[0].group
        while True:
            with self._lock:
                gathering = self._open.get(group)
                leads = gathering is None or len(gathering.questions) + len(questions) > api.most
                if gathering is None or leads:
                    gathering = self._open[group] = _Gathering()
                gathering.questions += questions
                told: Future[BatchTicket] = Future()
                if not leads:
                    gathering.joined.append(told)
            try:
                if leads:
                    return await self._led(gathering, group, api)
                return await asyncio.wrap_future(told)
            except _NotHandedIn:
                continue
            except asyncio.CancelledError:
                self._withdraw(gathering, group, questions)
                raise

    async def _led(self, gathering: _Gathering, group: str, api: BatchApi) -> BatchTicket:
        """Wait for other runs, and submit the gathered questions."""
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self._close(gathering, group)
            gathering.tell(_NotHandedIn())
            raise
        self._close(gathering, group)
        try:
            ticket = await api.submit(gathering.questions)
        except Exception as error:
            gathering.tell(error)
            raise
        except BaseException:
            words = "The run that handed in the batch was stopped."
            gathering.tell(BatchUnclear(words))
            raise
        gathering.tell(ticket)
        return ticket

    def _close(self, gathering: _Gathering, group: str) -> None:
        """Close the batch: no run can join or leave it."""
        with self._lock:
            if self._open.get(group) is gathering:
                del self._open[group]

    def _withdraw(
        self, gathering: _Gathering, group: str, questions: Sequence[EncodedQuestion]
    ) -> None:
        """Take back the questions of a run that was stopped, if they still wait."""
        with self._lock:
            if self._open.get(group) is gathering:
                gathering.questions = [x for x in gathering.questions if x not in questions]
