"""From the command line to a server that answers."""

import os
import secrets
import signal
import sys
from pathlib import Path

DEBUG = "FORGE_BOT_DEBUG"
TOKEN = "FORGE_BOT_MCP_TOKEN"  # noqa: S105 - the name of a variable, not a token


def serve_stdio(folder: Path | None, *, by_path: bool) -> int:
    """Serve one client over stdin and stdout until it goes away. Without a folder the current one
    is served, or what the client has open.
    """
    _end_at_signals()
    from forge_bot.mcp_server.sdk_server.server import make_server

    make_server(folder, debug=DEBUG in os.environ, by_path=by_path).run("stdio")
    return 0


def serve_http(folder: Path | None, port: int, *, by_path: bool) -> int:
    """Serve many clients over HTTP on this machine until the process is stopped.

    If no token was set, one is made and printed on stderr.
    """
    from forge_bot.mcp_server.sdk_server.http import LOOPBACK, PATH, listen, open_port
    from forge_bot.mcp_server.sdk_server.server import make_server

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
