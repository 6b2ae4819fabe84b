"""From the command line to a server that answers."""

import gc
from collections.abc import Sequence
from pathlib import Path


def serve_stdio(folders: Sequence[Path]) -> int:
    """Serve one client over stdin and stdout until it goes away."""
    server = _made(folders)
    server.run("stdio")
    return 0


def _made(folders: Sequence[Path]):  # noqa: ANN202
    # Importing makes many objects that all stay: looking through them for garbage takes a tenth of the start.
    gc.disable()
    from forge_bot.mcp_server.desk import Desk
    from forge_bot.mcp_server.tools import make_server

    server = make_server(Desk([folder.absolute() for folder in folders]))
    gc.freeze()
    gc.enable()
    return server
