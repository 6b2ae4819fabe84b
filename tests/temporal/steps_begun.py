"""The steps that a server has given out for a run, counted as they are given out."""

import asyncio
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.service import RPCError

from tests.temporal.scene import Server

_PAUSE = 0.1
_LOOK = 0.2


class StepsBegun:
    """Follows the history of a workflow in a thread, over any number of servers. Its name is asked
    for until there is one.
    """

    def __init__(self, server: Server, name: Callable[[], str]) -> None:
        self._server = server
        self._name = name
        self._names = dict[int, str]()
        self._next = self._awaited = ""
        self._seen = 0
        self._heard = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=lambda: asyncio.run(self._followed()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended = True
        self._thread.join()

    @property
    def count(self) -> int:
        return len(self._names)

    def wait(self, count: int) -> bool:
        """Whether there are so many by now; asked in a loop, since what is waited for may end."""
        with self._heard:
            return self._heard.wait_for(lambda: self.count >= count, timeout=_LOOK)

    def next_step(self) -> str:
        """The name of the next step that begins once the one that was named last is done; empty
        where none does soon.
        """
        with self._heard:
            self._heard.wait_for(lambda: self._next, timeout=_LOOK)
            step, self._next = self._next, ""
            return step

    async def _followed(self) -> None:
        following = asyncio.ensure_future(self._again_and_again())
        while not self._ended:
            await asyncio.wait({following}, timeout=_LOOK)
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following

    async def _again_and_again(self) -> None:
        while True:
            # Before there is a run, and while there is no server.
            with suppress(subprocess.CalledProcessError, AssertionError, RuntimeError, RPCError):
                await self._follow()
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), _PAUSE)

    async def _follow(self) -> None:
        client = await Client.connect(self._server.address)
        handle = client.get_workflow_handle(self._name())
        async for event in handle.fetch_history_events(wait_new_event=True):
            # A server that was away tells the history from its beginning.
            if event.event_id > self._seen:
                self._seen = event.event_id
                with self._heard:
                    self._take(event)

    def _take(self, event: HistoryEvent) -> None:
        if event.HasField("activity_task_scheduled_event_attributes"):
            name = event.activity_task_scheduled_event_attributes.activity_type.name
            self._names[event.event_id] = name
            if not self._awaited:
                self._next = self._awaited = name
            self._heard.notify_all()
        elif event.HasField("activity_task_completed_event_attributes"):
            begun = event.activity_task_completed_event_attributes.scheduled_event_id
            if self._names[begun] == self._awaited:
                self._awaited = ""
