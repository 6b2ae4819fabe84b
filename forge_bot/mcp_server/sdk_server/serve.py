"""From the command line to a server that answers: over stdin and stdout, or over streamable HTTP on
this machine only, where every request shows a token, and its Host and Origin are checked.
"""

import hmac
import json
import os
import secrets
import signal
import socket
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from forge_bot.errors import PortTaken
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.sdk_server.server import make_server

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
DEBUG = "FORGE_BOT_DEBUG"
TOKEN = "FORGE_BOT_MCP_TOKEN"  # noqa: S105 - the name of a variable, not a token


def serve_stdio(folder: Path | None, *, by_path: bool) -> int:
    """Serve one client over stdin and stdout until it goes away. Without a folder the current one
    is served, or what the client has open.
    """
    _end_at_signals()
    make_server(folder, debug=DEBUG in os.environ, by_path=by_path).run("stdio")
    return 0


def serve_http(folder: Path | None, port: int, *, by_path: bool) -> int:
    """Serve many clients over HTTP on this machine until the process is stopped.

    If no token was set, one is made and printed on stderr.
    """
    _end_at_signals()
    opened = open_port(port)
    token = os.environ.get(TOKEN, "").strip()
    _print(f"forge-bot serves http://{LOOPBACK}:{port}{PATH}")
    if not token:
        token = secrets.token_urlsafe(32)
        _print(f"Send: Authorization: Bearer {token}")
    listen(make_server(folder, debug=DEBUG in os.environ, by_path=by_path), token, opened)
    return 0


def _end_at_signals() -> None:
    """Let Ctrl-C end the process at once, as a kill does: what is recorded is always whole."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _print(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


class Guarded:
    """An ASGI application that answers only requests with the token (RFC 6750, section 2.1)."""

    def __init__(self, app: "ASGIApp", token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on, or answer 401. There are no other connections than requests."""
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._shown(scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            body = json.dumps(
                {"error": "This server wants its token: Authorization: Bearer TOKEN"}
            ).encode()
            headers = [
                (b"content-type", b"application/json"),
                (b"www-authenticate", b'Bearer realm="forge-bot"'),
            ]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _shown(self, scope: "Scope") -> bool:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(shown) != 1:
            return False
        # The scheme is written in any case (RFC 9110, section 11.1), the token is not.
        scheme, _, token = shown[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(b" "), self._token)


def application(server: ForgeServer, token: str, port: int) -> "ASGIApp":
    """The server as an ASGI application for one port of this machine."""
    from mcp.server.transport_security import TransportSecuritySettings

    server.policies.shared = True
    names = [f"{name}:{port}" for name in (LOOPBACK, "localhost", "[::1]")]
    security = TransportSecuritySettings(
        allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
    )
    return Guarded(
        server.streamable_http_app(
            streamable_http_path=PATH, transport_security=security, host=LOOPBACK
        ),
        token,
    )


def open_port(port: int) -> socket.socket:
    """The socket of a port of this machine. Raises PortTaken."""
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise PortTaken(
            f"Nothing can be served at {LOOPBACK}:{port}: {os.strerror(error.errno or 0)}."
        ) from error


def listen(server: ForgeServer, token: str, opened: socket.socket) -> None:
    """Serve at a port until the process is stopped: a signal ends it at once, as uvicorn takes none
    in another thread.
    """
    import uvicorn

    config = uvicorn.Config(
        application(server, token, opened.getsockname()[1]),
        log_level="warning",
        server_header=False,
        ws="none",
    )
    serving = Thread(target=uvicorn.Server(config).run, args=([opened],), daemon=True)
    serving.start()
    serving.join()
