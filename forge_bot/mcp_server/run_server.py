"""From the command line to a server that answers."""

import gc
import os
import secrets
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from forge_bot.sentences import say

if TYPE_CHECKING:
    from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
    from forge_bot.mcp_server.service_calls import LazyService

DEBUG = "FORGE_BOT_DEBUG"
TOKEN = "FORGE_BOT_MCP_TOKEN"  # noqa: S105 - the name of a variable, not a token


def serve_stdio(folders: Sequence[Path], *, named: bool = True) -> int:
    """Serve one client over stdin and stdout until it goes away. Folders that nobody `named` may
    give way to those it has open.
    """
    if sys.stdin.isatty():
        # A person who typed the command would wait for nothing.
        sys.stderr.write(f"{say('client.run_server.waits_for_a_client')}\n")
        sys.stderr.flush()
    with _without_collections():
        server = _for_stdio(folders, named=named)
    server.run("stdio")
    return 0


def serve_http(folders: Sequence[Path], port: int) -> int:
    """Serve many clients over HTTP on this machine until the process is stopped.

    If no token was set, one is made and printed on stderr.
    """
    with _without_collections():
        server = _for_http(folders)
    from forge_bot.mcp_server.sdk_server.http import LOOPBACK, PATH, door, listen

    opened = door(port)
    token = os.environ.get(TOKEN, "").strip()
    address = f"http://{LOOPBACK}:{port}{PATH}"
    sys.stderr.write(f"{say('client.run_server.serves', address=address)}\n")
    if not token:
        token = secrets.token_urlsafe(32)
        sys.stderr.write(f"{say('client.run_server.send', token=token)}\n")
    sys.stderr.flush()
    listen(server, token, opened)
    return 0


def _for_stdio(folders: Sequence[Path], *, named: bool) -> "ForgeServer":
    from forge_bot.mcp_server.sdk_server.sdk_import import (
        import_for_stdio,
        without_optional_packages,
    )

    import_for_stdio()
    from forge_bot.mcp_server.sdk_server.server import make_later

    with without_optional_packages():
        return make_later(_service(folders, named=named), debug=_debug())


def _for_http(folders: Sequence[Path]) -> "ForgeServer":
    from forge_bot.mcp_server.sdk_server.server import make_server

    return make_server(_service(folders), debug=_debug())


def _service(folders: Sequence[Path], *, named: bool = True) -> "LazyService":
    from forge_bot.mcp_server.service_calls import LazyService

    return LazyService([folder.absolute() for folder in folders], named=named)


def _debug() -> bool:
    return DEBUG in os.environ


@contextmanager
def _without_collections() -> Generator[None]:
    """Importing makes many objects that all stay: looking through them for garbage takes a tenth of
    the start.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
