"""Start a session with an MCP server: a process in a box where that works, or an address."""

import os
import shutil
import sys
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
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_result import Declined
from forge_bot.agent.tools.placeholders import TREE, Unresolved, check_variables, resolved
from forge_bot.agent.tools.server_consent import require_yes
from forge_bot.agent.tools.server_files import (
    as_placed,
    folder_of,
    require_base_files,
    require_outside,
)
from forge_bot.agent.tools.server_process import MOST_BYTES, ServerCommand, ServerConnection
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.errors import ForgeError, SandboxFailed
from forge_bot.sandbox import group_keeper
from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.sandbox.server_box import BoxedProgram, boxed_program
from forge_bot.sandbox.toolchains import is_safe_to_show
from forge_bot.settings.capability_file import MCPHttpServerConfig, MCPServerConfig

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams

_INHERITED = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


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

    environ = {**setup.environ, TREE: str(setup.tree)}
    async with AsyncExitStack() as stack:
        if isinstance(server, MCPHttpServerConfig):
            async with Client(await _address(server, environ, stack), cache=None) as client:
                yield client
            return
        command = stack.enter_context(_command(setup, name, server, environ))
        connection = ServerConnection(command)
        try:
            async with Client(connection.streams(), cache=None) as client:
                yield client
        # The error is reported with the last output of the server.
        except Exception as error:
            cause = innermost(error)
            if why := connection.why():
                raise ServerFailed(f"{sentence_of(cause)}; {why}") from cause
            raise


def innermost(error: BaseException) -> BaseException:
    """Return the first error of nested groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def sentence_of(error: BaseException) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"its answer does not fit the protocol: {place}: {first['msg']}"
    said = error.message if isinstance(error, ForgeError) else str(error)
    return (" ".join(said.split()).rstrip(".") or type(error).__name__)[:600]


async def _address(
    server: MCPHttpServerConfig, environ: Mapping[str, str], stack: AsyncExitStack
) -> "AbstractAsyncContextManager[TransportStreams]":
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    from forge_bot.agent.tools.bounded_answers import UNPACKED, bound

    headers = UNPACKED | {key: resolved(value, environ) for key, value in server.headers.items()}
    # An address of the configuration is not left for another: the headers hold secrets.
    http = await stack.enter_async_context(
        httpx2.AsyncClient(
            headers=headers,
            follow_redirects=False,
            timeout=None,
            event_hooks={"response": [bound]},
        )
    )
    return streamable_http_client(
        resolved(server.url, environ), http_client=http, max_sse_event_size=MOST_BYTES
    )


@contextmanager
def _command(
    setup: CapabilitySetup, name: str, server: MCPServerConfig, environ: Mapping[str, str]
) -> Generator[ServerCommand]:
    words = tuple(resolved(word, environ) for word in (server.command, *server.args))
    require_base_files(setup, words)
    words = tuple(as_placed(setup, word) for word in words)
    declared = {
        key: as_placed(setup, resolved(value, environ), searched=key.endswith("PATH"))
        for key, value in server.env.items()
    }
    folder = folder_of(setup)
    if setup.sandbox in {"off", "landlock"} or not boxes_work():
        usual = {key: os.environ[key] for key in _INHERITED if key in os.environ}
        env = {**usual, **declared}
        program = shutil.which(words[0], path=env.get("PATH"))
        if program is None and not (folder / words[0]).exists():
            raise ServerFailed(f"{words[0]}: no such command")
        require_outside(setup, program)
        keeper = (sys.executable, "-I", "-S", group_keeper.__file__, str(os.getpid()))
        yield ServerCommand((*keeper, *words), env, folder)
        return
    with tempfile.TemporaryDirectory(prefix="forge-server-") as scratch, ExitStack() as stack:

        def boxed(command: str) -> BoxedProgram:
            box = boxed_program(
                (command, *words[1:]),
                env=declared,
                folder=folder,
                readable=(setup.tree, *_installation(command)),
                scratch=Path(scratch),
                network=name in setup.policy.network,
            )
            return stack.enter_context(box)

        try:
            found = boxed(words[0])
        except SandboxFailed:
            # A box has the folders of its usual tools; another program is shown by itself.
            whole = shutil.which(words[0])
            if whole is None:
                raise
            require_outside(setup, whole)
            found = boxed(whole)
        yield ServerCommand(found.words, _ENV, folder, found.descriptors)


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
