"""From the command line to a server that answers."""

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge_bot.mcp_server.serving import ForgeServer


def serve_stdio(folders: Sequence[Path]) -> int:
    """Serve one client over stdin and stdout until it goes away."""
    _made(folders).run("stdio")
    return 0


def _made(folders: Sequence[Path]) -> "ForgeServer":
    # Importing makes many objects that all stay: looking through them for garbage takes a tenth of the start.
    gc.disable()
    from forge_bot.mcp_server.calling import LazyDesk
    from forge_bot.mcp_server.offering import make_server

    server = make_server(LazyDesk([folder.absolute() for folder in folders]))
    gc.freeze()
    gc.enable()
    return server
