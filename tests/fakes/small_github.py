"""A small GitHub on loopback: one issue, or whatever reply a test asks for."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ISSUE = {
    "number": 42,
    "title": "Fix the login",
    "body": "It times out.",
    "state": "open",
    "labels": [{"name": "bug"}, {"name": "forge:S"}],
    "user": {"login": "ann"},
    "html_url": "https://github.com/o/r/issues/42",
}


class SmallGitHub:
    """Answers every request with one programmed reply, and remembers what was asked."""

    def __init__(self) -> None:
        self.reply: tuple[int, object, dict[str, str]] = (200, ISSUE, {})
        self.asked: list[tuple[str, str | None]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append((self.path, self.headers.get("Authorization")))
                status, body, headers = outer.reply
                data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
                del format, args

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        """Stop answering, and let go of the socket."""
        self.http.shutdown()
        self.http.server_close()
