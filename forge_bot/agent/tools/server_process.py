"""An MCP server as a process: its lines in and out, and its end.

The process has its own group, and in the sandbox its own namespace of processes: when it is left,
and also when we are killed, nothing of it remains.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MOST_BYTES = 4_000_000
"""The most bytes of one message from a server."""

_MOST_MESSAGES = 5_000
"""The most lines of a server in one session: one that asks us something is a task here."""

_SECONDS_TO_LEAVE = 0.3
_COMPLAINT = 400
_CHUNK = 65_536


@dataclass(frozen=True)
class ServerCommand:
    """A server ready to be started: everything is resolved."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    descriptors: tuple[int, ...] = ()


class ServerConnection:
    """The streams of one started server, and its problem if it has one."""

    def __init__(self, command: ServerCommand) -> None:
        self.command = command
        self.trouble = ""
        self._complaints = b""

    def why(self) -> str:
        """Return what is known of a failure: the protocol's error, and the server's last output."""
        return "; ".join(filter(None, (self.trouble, self._complaint())))

    def _complaint(self) -> str:
        """Return the end of what the server wrote on standard error, from the start of a line."""
        said = self._complaints[-_COMPLAINT:].decode("utf-8", "replace").split("\n")
        return " ".join(" ".join(said[len(self._complaints) > _COMPLAINT :]).split())

    @asynccontextmanager
    async def streams(self) -> "AsyncGenerator[TransportStreams]":
        """Start the server; at the end every process of it is gone."""
        import anyio

        process = await asyncio.create_subprocess_exec(
            *self.command.words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(self.command.env),
            cwd=self.command.folder,
            start_new_session=True,
            pass_fds=self.command.descriptors,
            limit=MOST_BYTES,
        )
        heard, to_session = anyio.create_memory_object_stream[Any](0)
        from_session, to_server = anyio.create_memory_object_stream[Any](0)
        pumps = (
            asyncio.create_task(self._read(process, heard)),
            asyncio.create_task(_write(process, to_server)),
        )
        listening = asyncio.create_task(self._listen(process))
        try:
            yield to_session, from_session
        finally:
            for stream in (to_session, from_session):
                stream.close()
            await asyncio.shield(_end(process, pumps, listening))

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the end of what the server complains of: it may be more than a disk has room for."""
        while process.stderr and (more := await process.stderr.read(_CHUNK)):
            self._complaints = (self._complaints + more)[-_COMPLAINT - 1 :]

    async def _read(self, process: asyncio.subprocess.Process, heard: Any) -> None:
        from mcp import types
        from mcp.shared.message import SessionMessage

        async with heard:
            for _ in range(_MOST_MESSAGES):
                try:
                    line = await _reader(process).readline()
                except ValueError:
                    self.trouble = f"it sent a message of more than {MOST_BYTES:,} bytes"
                    return
                if not line:
                    self.trouble = self.trouble or "it ended"
                    return
                try:
                    # Bytes that are no UTF-8 are replaced: one bad letter loses no answer.
                    message = types.jsonrpc_message_adapter.validate_json(
                        line.decode("utf-8", "replace"), by_name=False
                    )
                except ValueError:
                    # Many servers print a line of welcome.
                    self.trouble = "it sent a line that is no message of the protocol"
                    continue
                if not await _handed(heard, SessionMessage(message)):
                    return
            self.trouble = f"it sent more than {_MOST_MESSAGES:,} messages"


def _reader(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    if process.stdout is None:
        raise RuntimeError("the server was started without pipes")
    return process.stdout


async def _handed(heard: Any, message: object) -> bool:
    import anyio

    try:
        await heard.send(message)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return False
    return True


async def _write(process: asyncio.subprocess.Process, to_server: Any) -> None:
    pipe = process.stdin
    with suppress(ConnectionError):
        async with to_server:
            async for item in to_server:
                text: str = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                if pipe is not None:
                    pipe.write(f"{text}\n".encode())
                    await pipe.drain()


async def _end(
    process: asyncio.subprocess.Process,
    pumps: tuple[asyncio.Task[None], ...],
    listening: asyncio.Task[None],
) -> None:
    """End the server: close its input, wait a moment, end its group, hear its last complaint."""
    for pump in pumps:
        pump.cancel()
    await asyncio.gather(*pumps, return_exceptions=True)
    if process.stdin is not None:
        process.stdin.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS_TO_LEAVE):
            await process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # A process that left the group may hold the pipes, and so `wait` too.
    ends = (listening, asyncio.create_task(_emptied(process)))
    await asyncio.wait(ends, timeout=_SECONDS_TO_LEAVE)
    for each in ends:
        each.cancel()
    await asyncio.gather(*ends, return_exceptions=True)
    await process.wait()


async def _emptied(process: asyncio.subprocess.Process) -> None:
    """Read what nobody heard: a pipe that is not read to its end stays open."""
    while await _reader(process).read(_CHUNK):
        pass
