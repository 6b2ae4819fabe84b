"""Limit how much of an answer over HTTP is read: the server decides how much it sends."""

from collections.abc import AsyncIterator

import httpx2

from forge_bot.agent.tools.server_process import MOST_BYTES

UNPACKED = {"Accept-Encoding": "identity"}
"""The header that asks a server for answers that are as long as they look."""

_EVENTS = "text/event-stream"


class AnswerTooLarge(Exception):
    """A server sent more than is read, or what nobody can measure before it is unpacked."""


async def bound(response: httpx2.Response) -> None:
    """Let an answer break off where it becomes too large. Events are measured one by one by their
    reader. Raises AnswerTooLarge for a packed answer.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing != "identity":
        raise AnswerTooLarge("it packed its answer, although it was asked not to")
    stream = response.stream
    events = response.headers.get("content-type", "").lower().startswith(_EVENTS)
    if not events and isinstance(stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(stream)


class _Bounded(httpx2.AsyncByteStream):
    """A body that breaks off."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._body:
            read += len(part)
            if read > MOST_BYTES:
                raise AnswerTooLarge(f"it sent a message of more than {MOST_BYTES:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._body.aclose()
