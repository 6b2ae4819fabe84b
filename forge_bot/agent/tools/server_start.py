"""Start a session with an MCP server: a process in a box where that works, or an address."""

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_catalogue import Declined
from forge_bot.agent.tools.server_consent import (
    as_placed,
    folder_of,
    require_base_files,
    require_outside,
    require_yes,
)
from forge_bot.agent.tools.setup import TREE, CapabilitySetup, Unresolved, check_variables, resolved
from forge_bot.errors import ForgeError, SandboxFailed
from forge_bot.sandbox import keeper_process
from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.sandbox.server_box import boxed_program
from forge_bot.sandbox.toolchains import is_safe_to_show
from forge_bot.settings.capability_file import MCPHttpServerConfig, MCPServerConfig

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp.client.stdio import StdioServerParameters

_MOST_COMPLAINT = 400
_PIPE_BYTES = 65_536


@cache
def boxes_work() -> bool:
    """Return whether servers can be held in a box on this machine."""
    return not failure_reason(BackendName.BUBBLEWRAP)


class ServerFailed(Exception):
    """A session broke. The message has what the server itself complains of."""


@asynccontextmanager
async def started(
    setup: CapabilitySetup, name: str, server: MCPServerConfig | MCPHttpServerConfig
) -> "AsyncGenerator[Client]":
    """Yield a session with a server. Raises ServerFailed for what breaks in it.

    Nothing else starts a server, asks its address or reads the variables for it: Declined is raised
    before any of this without a person's yes, and for a variable that it cannot have.
    """
    require_yes(setup)
    try:
        check_variables(server, setup.environ)
    except Unresolved as error:
        raise Declined(ResultStatus.TOOL_ERROR, str(error)) from None
    from mcp import Client
    from mcp.client.stdio import stdio_client

    environ = {**setup.environ, TREE: str(setup.tree)}
    async with AsyncExitStack() as stack:
        if isinstance(server, MCPHttpServerConfig):
            async with Client(await _address(server, environ, stack), cache=None) as client:
                yield client
            return
        command = stack.enter_context(_command(setup, name, server, environ))
        complaints = stack.enter_context(_Complaints())
        # Many servers print a line of welcome; the SDK writes each of them to the log.
        logging.getLogger("mcp.client.stdio").setLevel(logging.CRITICAL)
        try:
            async with Client(stdio_client(command, complaints.pipe), cache=None) as client:
                yield client
        # The error is reported with the last output of the server.
        except Exception as error:
            cause = innermost(error)
            if why := complaints.last_words():
                raise ServerFailed(f"{sentence_of(cause)}; {why}") from cause
            raise


class _Complaints:
    """The end of what a server writes on standard error; all of it would fill a disk."""

    def __init__(self) -> None:
        self._kept = b""
        read_end, write_end = os.pipe()
        os.set_blocking(read_end, False)
        self._read_end = open(read_end, "rb", buffering=0)  # noqa: PTH123, SIM115 - closed at exit
        self.pipe = open(write_end, "w")  # noqa: PTH123, SIM115 - closed at exit

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._read_end, self._read_errors)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._read_end)
        self.pipe.close()
        self._read_end.close()

    def _read_errors(self) -> None:
        more = self._read_end.read(_PIPE_BYTES) or b""
        self._kept = (self._kept + more)[-_MOST_COMPLAINT - 1 :]

    def last_words(self) -> str:
        """Return the end of what the server wrote, from the start of a line."""
        self._read_errors()
        lines = self._kept.decode("utf-8", "replace").split("\n")
        return " ".join(" ".join(lines[len(self._kept) > _MOST_COMPLAINT :]).split())


def innermost(error: BaseException) -> BaseException:
    """Return the first error of nested groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def sentence_of(error: BaseException) -> str:
    words = error.message if isinstance(error, ForgeError) else str(error)
    return (" ".join(words.split()).rstrip(".") or type(error).__name__)[:600]


async def _address(
    server: MCPHttpServerConfig, environ: Mapping[str, str], stack: AsyncExitStack
) -> "AbstractAsyncContextManager[TransportStreams]":
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {key: resolved(value, environ) for key, value in server.headers.items()}
    # An address of the configuration is not left for another: the headers hold secrets.
    http = await stack.enter_async_context(
        httpx2.AsyncClient(headers=headers, follow_redirects=False, timeout=None)
    )
    return streamable_http_client(resolved(server.url, environ), http_client=http)


@contextmanager
def _command(
    setup: CapabilitySetup, name: str, server: MCPServerConfig, environ: Mapping[str, str]
) -> "Generator[StdioServerParameters]":
    from mcp.client.stdio import StdioServerParameters

    words = tuple(resolved(word, environ) for word in (server.command, *server.args))
    require_base_files(setup, words)
    words = tuple(as_placed(setup, word) for word in words)
    env = {
        key: as_placed(setup, resolved(value, environ), searched=key.endswith("PATH"))
        for key, value in server.env.items()
    }
    folder = folder_of(setup)
    with ExitStack() as stack:
        if setup.sandbox in {"off", "landlock"} or not boxes_work():
            program = shutil.which(words[0], path=env.get("PATH"))
            if program is None and not (folder / words[0]).exists():
                raise ServerFailed(f"{words[0]}: no such command")
            require_outside(setup, program)
            started_by = (*keeper_process.words(), *words)
        else:
            network = name in setup.policy.network
            started_by = _put_in_box(setup, words, env, stack, network=network)
            env = {}
        yield StdioServerParameters(
            command=started_by[0],
            args=list(started_by[1:]),
            env=env,
            cwd=folder,
            # One bad letter loses no answer.
            encoding_error_handler="replace",
        )


def _put_in_box(
    setup: CapabilitySetup,
    words: tuple[str, ...],
    env: Mapping[str, str],
    stack: ExitStack,
    *,
    network: bool,
) -> tuple[str, ...]:
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="forge-server-"))

    def boxed(command: str) -> tuple[str, ...]:
        box = boxed_program(
            (command, *words[1:]),
            env=env,
            folder=folder_of(setup),
            readable=(setup.tree, *_installation(command)),
            scratch=Path(scratch),
            network=network,
        )
        return stack.enter_context(box)

    try:
        return boxed(words[0])
    except SandboxFailed:
        # A box has the folders of its usual tools; another program is shown by itself.
        whole = shutil.which(words[0])
        if whole is None:
            raise
        require_outside(setup, whole)
        return boxed(whole)


def _installation(command: str) -> tuple[Path, ...]:
    """Return the folders that a program named by its whole path is installed in, such as an
    environment of Python or the packages of npm; in a folder of homes or keys it alone.
    """
    program = Path(command)
    if not program.is_absolute() or not program.is_file():
        return ()
    shown: dict[Path, None] = {}
    for file in (program, program.resolve()):
        folder = file.parent.parent if file.parent.name in {"bin", ".bin"} else file.parent
        shown[folder if is_safe_to_show(folder) else file] = None
    return tuple(shown)
