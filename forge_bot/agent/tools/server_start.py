"""Start a session with an MCP server: a process in a box where that works, or an address; and the
yes that a person gives to the servers of a repository before one is started.

The yes is bound to a digest of the definition of all servers, of what the policy lets them do, and
of the bytes of their programs that lie in the repository. Values of variables are no part of it.

The agents of a run change its work tree. So whatever a server's configuration names below that tree
is taken from a folder with the base commit's files; the tree as a whole stays the one at work.
"""

import hashlib
import json
import logging
import re
import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self, TextIO, cast

from forge_bot.agent.capabilities import Declined, ResultStatus
from forge_bot.agent.tools.setup import TREE, CapabilitySetup, resolved, texts_of, variable_faults
from forge_bot.errors import ForgeError
from forge_bot.sandbox.backends import boxed_program, failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.sandbox.helper_processes import keeper
from forge_bot.sandbox.toolchains import is_safe_to_show
from forge_bot.settings.capability_file import MCPHttpServerConfig, MCPServerConfig

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp.client.stdio import StdioServerParameters


_BETWEEN = re.compile(r"[\s'\"=:;,|&()<>]+")
_LEFT_OUT = frozenset({".git", "__pycache__"})
_GRANTS = {"allow", "ask", "deny", "network"}


def require_yes(setup: CapabilitySetup) -> None:
    """Raise Declined where no person has said yes to the servers as they are now."""
    if setup.agreed is not None and servers_digest(setup) not in setup.agreed:
        why = (
            "No server is started: nobody has said yes to the servers of this repository as they"
            " are now. `forge-bot capabilities approve` shows them and asks."
        )
        raise Declined(ResultStatus.DENIED, why)


def servers_digest(setup: CapabilitySetup) -> str:
    """Return a sha256 of everything that a yes to the servers is a yes to."""
    agreed = [
        {name: server.model_dump(mode="json") for name, server in setup.servers.items()},
        setup.policy.model_dump(mode="json", include=_GRANTS),
        setup.sandbox,
        {name: program_digests(setup, server) for name, server in setup.servers.items()},
    ]
    return hashlib.sha256(json.dumps(agreed, sort_keys=True).encode()).hexdigest()


def program_digests(
    setup: CapabilitySetup, server: MCPServerConfig | MCPHttpServerConfig
) -> dict[str, str]:
    """Return a sha256 of each file of the repository that a program is made of, by its name."""
    if isinstance(server, MCPHttpServerConfig):
        return {}
    texts = [*texts_of(server)]
    if "/" not in server.command and (program := shutil.which(server.command)):
        texts.append(program)
    files = {
        str(file.relative_to(top)): file
        for text in texts
        for place, top in _find_named_files(setup, text)
        for file in _files_beside(place, top)
    }
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in sorted(files.items())
    }


def _find_named_files(setup: CapabilitySetup, text: str) -> Iterator[tuple[Path, Path]]:
    """Yield the files and folders of the repository that a text names, also as a module, each with
    the folder that it counts from.
    """
    folder = folder_of(setup)
    tops = [top.resolve() for top in (folder, setup.base or setup.tree, setup.repository) if top]
    # Only the default of another variable is known before it is read.
    whole = resolved(text, {TREE: str(setup.tree)})
    for word in {whole, *_BETWEEN.split(whole)}:
        module = word.replace(".", "/")
        for name in (word, module, f"{module}.py"):
            # Agents cannot change what is there at the base commit; nothing else is started.
            for place in (folder / as_placed(setup, name), setup.root / name):
                top = _top_of(place, tops)
                if top is not None:
                    yield place.resolve(), top
                    break


def _top_of(place: Path, tops: Sequence[Path]) -> Path | None:
    """Return the folder of the repository that a file or folder is in; None for it itself."""
    # A name may be too long for a path, or have a NUL.
    try:
        place = place.resolve()
        if place in tops or not place.exists():
            return None
    except (OSError, ValueError):
        return None
    return next((top for top in tops if place.is_relative_to(top)), None)


def _files_beside(place: Path, top: Path) -> Iterator[Path]:
    """Yield a program's file with those it may load: all in its folder and below. Directly in the
    repository's own folder these are only the files of the same kind.
    """
    folder = place if place.is_dir() else place.parent
    loaded = top.glob(f"*{place.suffix}") if folder == top else folder.rglob("*")
    yield from (
        file for file in (place, *loaded) if file.is_file() and not _LEFT_OUT & {*file.parts}
    )


def folder_of(setup: CapabilitySetup) -> Path:
    top, tree = setup.root.resolve(), setup.tree.resolve()
    if setup.base is not None and top.is_relative_to(tree):
        return setup.base / top.relative_to(tree)
    return top


def as_placed(setup: CapabilitySetup, text: str, *, searched: bool = False) -> str:
    """Return a text without placeholders, with what it names below the run's tree as it was at the
    base commit. In a variable that is `searched` for programs the tree itself is too.
    """
    if setup.base is None:
        return text
    for tree in dict.fromkeys((str(setup.tree), str(setup.tree.resolve()))):
        text = text.replace(f"{tree}/", f"{setup.base}/")
        text = text.replace(tree, str(setup.base)) if searched else text
    return text


def _require_base_files(setup: CapabilitySetup, words: Sequence[str]) -> None:
    """Raise Declined where words of a command name files that the agents can change."""
    if setup.base is None:
        return
    for word in words:
        then, now = folder_of(setup) / as_placed(setup, word), setup.root / word
        if now.resolve() == setup.tree.resolve():
            continue
        if (now.exists() and not then.exists()) or _is_in_tree(setup, then):
            raise _changeable(word)


def _is_in_tree(setup: CapabilitySetup, file: Path) -> bool:
    return setup.base is not None and any(
        place.is_relative_to(setup.tree.resolve()) for place in (file.absolute(), file.resolve())
    )


def _changeable(word: str) -> Declined:
    why = (
        f"{word} lies in the run's tree and is not in its base commit, so it is not started:"
        " commit it before the run, or install it outside of the repository."
    )
    return Declined(ResultStatus.DENIED, why)


_MOST_COMPLAINT = 400
_TAIL_SECONDS = 1.0


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
    if faults := variable_faults(server, setup.environ):
        raise Declined(ResultStatus.TOOL_ERROR, " ".join(faults))
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

    def __enter__(self) -> Self:
        self._kept = tempfile.TemporaryFile()
        words = ("tail", "-c", str(_MOST_COMPLAINT))
        self._tail = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=self._kept, text=True)
        self.pipe = cast("TextIO", self._tail.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        self.pipe.close()
        self._tail.kill()
        self._tail.wait()
        self._kept.close()

    def last_words(self) -> str:
        """Return the end of what the server wrote, which has ended."""
        self.pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._tail.wait(_TAIL_SECONDS)
        self._kept.seek(0)
        return " ".join(self._kept.read().decode("utf-8", "replace").split())


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
    _require_base_files(setup, words)
    words = tuple(as_placed(setup, word) for word in words)
    env = {
        key: as_placed(setup, resolved(value, environ), searched=key.endswith("PATH"))
        for key, value in server.env.items()
    }
    folder = folder_of(setup)
    program = shutil.which(words[0], path=env.get("PATH"))
    if program is None and not (folder / words[0]).exists():
        raise ServerFailed(f"{words[0]}: no such command")
    if program is not None and _is_in_tree(setup, Path(program)):
        raise _changeable(program)
    with ExitStack() as stack:
        if setup.sandbox in {"off", "landlock"} or not boxes_work():
            started_by = (*keeper(), *words)
        else:
            scratch = Path(stack.enter_context(TemporaryDirectory(prefix="forge-server-")))
            box = boxed_program(
                (program or words[0], *words[1:]),
                env=env,
                folder=folder,
                readable=(setup.tree, *_installation(program or words[0])),
                scratch=scratch,
                network=name in setup.policy.network,
            )
            started_by, env = stack.enter_context(box), {}
        yield StdioServerParameters(
            command=started_by[0],
            args=list(started_by[1:]),
            env=env,
            cwd=folder,
            # One bad letter loses no answer.
            encoding_error_handler="replace",
        )


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
