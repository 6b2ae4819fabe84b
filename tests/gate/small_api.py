"""The REST calls of the gate on loopback: who has which role, comments, reactions, pull requests;
and trouble, when a test asks for it.
"""

import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.gate.payloads import Json, user

OWN = "github-actions[bot]"
_PERMISSIONS = {
    "admin": "admin",
    "maintain": "write",
    "write": "write",
    "triage": "read",
    "read": "read",
    "none": "none",
}


@dataclass
class Trouble:
    """An answer in place of the true one, so many times."""

    method: str
    path: str
    status: int
    times: int = 1000
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: Any = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    body: Json
    token: str | None


class SmallApi:
    """One repository, `o/r`."""

    def __init__(self, own: str = OWN) -> None:
        self.own = own
        self.roles: dict[str, str] = {"ann": "write", "bob": "read"}
        self.comments: dict[int, list[Json]] = {}
        self.reactions: list[tuple[str, int, str]] = []
        self.pulls: dict[int, Json] = {}
        self.asked: list[Asked] = []
        self.trouble: list[Trouble] = []
        self._number = 5000
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self._answer({})

            def do_POST(self) -> None:
                self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            do_PATCH = do_POST  # noqa: N815 - the base class calls methods of these names

            def _answer(self, body: Json) -> None:
                outer.asked.append(
                    Asked(self.command, self.path, body, self.headers.get("Authorization"))
                )
                status, answer, headers = outer.answer(self.command, self.path, body)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                for name, value in {
                    "Content-Type": "application/json",
                    "Content-Length": str(len(data)),
                    **headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
                del format, args

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def close(self) -> None:
        """Stop answering, and let go of the socket."""
        self._http.shutdown()
        self._http.server_close()

    def said(self, thread: int = 42) -> list[str]:
        """What the own account wrote in a thread."""
        return [
            comment["body"]
            for comment in self.comments.get(thread, [])
            if comment["user"]["login"] == self.own
        ]

    def write(self, thread: int, login: str, body: str) -> int:
        """Somebody writes a comment."""
        self._number += 1
        kind = "Bot" if login.endswith("[bot]") else "User"
        self.comments.setdefault(thread, []).append(
            {"id": self._number, "body": body, "user": user(login, kind, 1)}
        )
        return self._number

    def paths(self, method: str) -> list[str]:
        """What was asked, without the repository's own part."""
        return [
            asked.path.removeprefix("/repos/o/r") for asked in self.asked if asked.method == method
        ]

    def answer(self, method: str, path: str, body: Json) -> tuple[int, Any, dict[str, str]]:
        """The status, body and headers of an answer."""
        for trouble in self.trouble:
            if trouble.times and trouble.method == method and re.search(trouble.path, path):
                trouble.times -= 1
                return trouble.status, trouble.body, trouble.headers
        parts = urlsplit(path)
        words = unquote(parts.path).strip("/").split("/")
        match (method, words[:3], words[3:]):
            case ("GET", ["repos", "o", "r"], ["collaborators", login, "permission"]):
                return self._permission(login)
            case ("GET", ["repos", "o", "r"], ["issues", number, "comments"]):
                query = {name: int(values[0]) for name, values in parse_qs(parts.query).items()}
                first = (query["page"] - 1) * query["per_page"]
                return (
                    200,
                    self.comments.get(int(number), [])[first : first + query["per_page"]],
                    {},
                )
            case ("POST", ["repos", "o", "r"], ["issues", number, "comments"]):
                self.write(int(number), self.own, body["body"])
                return 201, self.comments[int(number)][-1], {}
            case ("POST", ["repos", "o", "r"], ["issues", "comments", number, "reactions"]):
                return self._react("comment", int(number), body)
            case ("PATCH", ["repos", "o", "r"], ["issues", "comments", number]):
                found = next(
                    comment
                    for thread in self.comments.values()
                    for comment in thread
                    if comment["id"] == int(number)
                )
                found["body"] = body["body"]
                return 200, found, {}
            case ("POST", ["repos", "o", "r"], ["issues", number, "reactions"]):
                return self._react("issue", int(number), body)
            case ("GET", ["repos", "o", "r"], ["pulls", number]) if int(number) in self.pulls:
                return 200, self.pulls[int(number)], {}
            case _:
                return 404, {"message": "Not Found"}, {}

    def _permission(self, login: str) -> tuple[int, Any, dict[str, str]]:
        role = self.roles.get(login.casefold())
        if role is None:
            return 404, {"message": "Not Found"}, {}
        return 200, {"permission": _PERMISSIONS[role], "role_name": role, "user": user(login)}, {}

    def _react(self, what: str, number: int, body: Json) -> tuple[int, Any, dict[str, str]]:
        reaction = (what, number, body["content"])
        known = reaction in self.reactions
        self.reactions += [] if known else [reaction]
        return 200 if known else 201, {"id": 1, "content": body["content"]}, {}
