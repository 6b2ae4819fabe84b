"""The product's server over HTTP, which the conformance suite needs: `python -m
tests.mcp_server.conformance_server FOLDER` tells its port.
"""

import socket
import sys
from pathlib import Path

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from forge_bot.mcp_server.sdk_server.server import make_server

_HOST = "127.0.0.1"


def main(folder: Path) -> None:
    """Serve until the process is told to stop."""
    with socket.create_server((_HOST, 0)) as opened:
        port: int = opened.getsockname()[1]
        names = [f"{name}:{port}" for name in (_HOST, "localhost")]
        security = TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        )
        app = make_server(folder).streamable_http_app(
            streamable_http_path="/mcp", transport_security=security, host=_HOST
        )
        # The door is open: who connects from now on is answered as soon as the application stands.
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[opened])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
