"""The fake's HTTP: requests in, answers out with GitHub's headers, pages and entity tags."""

import json
import socket
import struct
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tests.fakes.github.hub import FakeGitHub


class Server(ThreadingHTTPServer):
    """Loopback, a thread for each connection."""

    daemon_threads = True

    def __init__(self, hub: "FakeGitHub") -> None:
        self.hub = hub
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news; anything else makes the test fail."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            self.hub.findings.append(f"the fake itself broke: {error!r}")


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    # Headers and body are two packets: the second would wait 40 ms for the first to be acknowledged.
    disable_nagle_algorithm = True
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride] - the base class says any server

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.hub.handle(self.command, parts.path, parts.query, self._body(), headers)
        if reply is None:
            self._break_off()
            return
        data = (
            reply.raw
            if reply.raw is not None
            else b""
            if reply.body is None
            else json.dumps(reply.body).encode()
        )
        self.send_response_only(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD" and reply.status not in {204, 304}:
            self.wfile.write(data)

    # The base class calls methods of these names.
    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _answer  # noqa: N815

    def _break_off(self) -> None:
        """Close so that the other side sees a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Nothing is printed."""
        del format, args
