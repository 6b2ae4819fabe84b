"""Streamable HTTP on this machine only: every request shows a token, and its Host and Origin are checked."""

import hmac
import json

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from forge_bot.mcp_server.serving import ForgeServer

LOOPBACK = "127.0.0.1"
PATH = "/mcp"


class Guarded:
    """An application that answers only who shows the token (RFC 6750, section 2.1)."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 401."""
        if scope["type"] != "http" or hmac.compare_digest(dict(scope["headers"]).get(b"authorization", b""), self._token):
            await self._app(scope, receive, send)
            return
        body = json.dumps({"error": "This server wants its token: Authorization: Bearer …"}).encode()
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b'Bearer realm="forge-bot"')]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def application(server: ForgeServer, token: str, port: int) -> ASGIApp:
    """The server as an ASGI application for one port of this machine."""
    names = [f"{name}:{port}" for name in (LOOPBACK, "localhost", "[::1]")]
    security = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
    return Guarded(server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=LOOPBACK), token)


def listen(server: ForgeServer, token: str, port: int) -> None:
    """Serve until the process is told to stop."""
    import uvicorn

    uvicorn.run(application(server, token, port), host=LOOPBACK, port=port, log_level="warning", timeout_graceful_shutdown=5)
