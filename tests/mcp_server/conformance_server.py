"""The server over HTTP for the conformance suite: `python -m tests.mcp_server.conformance_server
FOLDER` tells its port.

It is the product's own application, checks of Host, Origin and token included; the token, which the
suite cannot send, is added to each request on the way in.
"""

import sys
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from forge_bot.mcp_server.sdk_server.serve import application, open_port
from forge_bot.mcp_server.sdk_server.server import make_server

_TOKEN = "known-to-this-process-only"


class Shown:
    """An application whose requests all show the token."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {
                **scope,
                "headers": [*scope["headers"], (b"authorization", f"Bearer {_TOKEN}".encode())],
            }
        await self._app(scope, receive, send)


def main(folder: Path) -> None:
    """Serve until the process is told to stop."""
    server = make_server(folder)
    with open_port(0) as opened:
        port: int = opened.getsockname()[1]
        config = uvicorn.Config(Shown(application(server, _TOKEN, port)), log_level="warning")
        # The door is open: who connects from now on is answered as soon as the application stands.
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        uvicorn.Server(config).run(sockets=[opened])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
