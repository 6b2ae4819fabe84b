"""Serve one client over stdin and stdout. Every line is answered; the server does not wait for a
client that has left.
"""

import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, BinaryIO, cast

import anyio
from anyio.abc import ObjectSendStream
from mcp.server import NotificationOptions
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import BaseModel, StrictInt, StrictStr, TypeAdapter, ValidationError

from forge_bot.mcp_server.service_calls import calls_at_work
from forge_bot.mcp_server.tool_results import sendable

_Message = SessionMessage | Exception
_QUIET = 0.1
"""Seconds without a message after which a client is taken to ask for nothing just now."""

_NOTHING = re.compile(r"\s*")


class _Named(BaseModel):
    id: StrictStr | StrictInt | None = None


_NAMED = TypeAdapter(_Named)


class StdioTransport:
    """The two pipes of a server. `close` ends the work of the server's process for its client. The
    steps `ahead` are taken while the client asks for nothing.
    """

    def __init__(
        self,
        server: Server[Any],
        close: Callable[[], None],
        ahead: Sequence[Callable[[], object]] = (),
    ) -> None:
        self._server = server
        self._close = close
        self._ahead = ahead
        self._signal = 0
        self._message = anyio.Event()

    async def serve(self) -> None:
        """Serve until the client disconnects. On SIGINT or SIGTERM finish recording, then end the
        process.
        """
        # What a library prints would otherwise wait in the buffer and reach the client at the exit.
        cast("TextIOWrapper[BinaryIO]", sys.stdout).reconfigure(line_buffering=True)
        # The SDK has no public way to announce change notifications to clients of the older
        # protocol over stdio.
        options = self._server.create_initialization_options(NotificationOptions(True, True, True))
        async with stdio_server() as (read, write), anyio.create_task_group() as group:
            send, receive = anyio.create_memory_object_stream[_Message]()
            group.start_soon(self._passed_on, read, send, write.send)
            group.start_soon(self._told_to_stop, send)
            group.start_soon(self._load_ahead)
            try:
                await self._server.run(receive, write, options)
            finally:
                # While the descriptor still leads away from the client: what a library printed
                # without a line's end.
                sys.stdout.flush()
            if self._signal:
                _leave(self._signal)
            group.cancel_scope.cancel()

    async def _passed_on(
        self,
        read: AsyncIterable[_Message],
        send: ObjectSendStream[_Message],
        write: Callable[[SessionMessage], Awaitable[None]],
    ) -> None:
        """Forward the client's messages. When it disconnects, end its project commands, so that the
        process can end.
        """
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async with send:
                async for message in read:
                    self._message.set()
                    told = _mended(message) if isinstance(message, Exception) else message
                    if told is not None:
                        await send.send(told)
                    elif (
                        isinstance(message, Exception) and (said := _answer_to(message)) is not None
                    ):
                        # The SDK drops lines that it cannot read, and its client would wait for
                        # ever.
                        await write(said)
        self._close()

    async def _load_ahead(self) -> None:
        """Take the steps one by one, each when the client asks for nothing: the first answer comes
        first.
        """
        await self._message.wait()
        for step in self._ahead:
            await self._quiet()
            # An import error is reported by the call that needs the import.
            with suppress(Exception):
                await anyio.to_thread.run_sync(step)

    async def _quiet(self) -> None:
        """Wait until no message has come for a moment and no call is at work."""
        busy = True
        while busy:
            self._message = anyio.Event()
            with anyio.move_on_after(_QUIET) as silence:
                await self._message.wait()
            busy = not silence.cancelled_caught or calls_at_work() > 0

    async def _told_to_stop(self, send: ObjectSendStream[_Message]) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                if self._signal:
                    _leave(number)
                self._signal = int(number)
                self._close()
                await send.aclose()


def _leave(number: int) -> None:
    # A thread still waits at stdin, and nothing wakes it: the interpreter would wait for the
    # thread, and the client's person for us.
    sys.stderr.flush()
    os._exit(128 + number)


def _mended(error: Exception) -> SessionMessage | None:
    """The message that a line was meant to be: JSON may spell halves of characters, which no text
    can hold. None if it is none.
    """
    line = _line(error)
    try:
        value = json.loads(line)
        return SessionMessage(
            jsonrpc_message_adapter.validate_json(
                sendable(json.dumps(value, ensure_ascii=False)), by_name=False
            )
        )
    except (ValueError, RecursionError):
        return None


def _answer_to(error: Exception) -> SessionMessage | None:
    """Return the error for a client's line that is no message (JSON-RPC 2.0, section 5.1); None for
    a line without a word.
    """
    line = _line(error)
    if _NOTHING.fullmatch(line):
        return None
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(PARSE_ERROR, "This line is not JSON that can be read.", None)
    return _refusal(INVALID_REQUEST, "This line is no message of JSON-RPC 2.0.", _id(line))


def _refusal(code: int, words: str, id_: str | int | None) -> SessionMessage:
    told = ErrorData(code=code, message=f"{words} One message a line, in UTF-8.")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id_, error=told))


def _id(line: str) -> str | int | None:
    try:
        return _NAMED.validate_json(line).id
    except ValidationError:
        return None


def _line(error: Exception) -> str:
    """The line that the SDK could not read."""
    if not isinstance(error, ValidationError):
        return "?"
    given: list[object] = [
        each["input"] for each in error.errors(include_url=False, include_context=False)
    ]
    # What is not JSON comes as it is; a message that fits no form comes as a value, its parts
    # beside the whole.
    whole = next((cast("object", value) for value in given if isinstance(value, dict)), given[0])
    return whole if isinstance(whole, str) else json.dumps(whole, default=str)
