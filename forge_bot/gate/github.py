"""The few questions that the gate asks GitHub, over urllib: an answer or the reason why there is
none, never an exception.
"""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import IO, cast
from urllib.parse import quote

from forge_bot.gate.json_payload import Node, read_json
from forge_bot.sentences import say

TIMEOUT = 10.0
"""Seconds for one answer."""

LONGEST_WAIT = 70.0
"""Seconds that are waited when GitHub asks for patience; its own limits mostly say 60."""

_SUCCESS = 2
"""The first digit of a good status."""

_TRIES = 3
_LARGEST = 64 * 2**20
_TOO_FAST = {403, 429}
_BROKEN = {500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """A status and what came with it. Status 0: no answer came, and `reason` says why."""

    status: int
    body: Node
    reason: str = ""

    @property
    def good(self) -> bool:
        """Return whether the request succeeded."""
        return self.status // 100 == _SUCCESS

    @property
    def told(self) -> str:
        """Return the problem, for a log."""
        return self.reason or f"status {self.status} {self.body.text('message')[:100]}".strip()


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirect is no answer: urllib would send the token along to wherever it leads."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        del req, fp, code, msg, headers, newurl


class GateClient:
    """One repository, asked with one token that goes to the host of the API and to no other."""

    def __init__(
        self, api: str, repository: str, token: str, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self._base = f"{api}/repos/{repository}"
        self._token = token
        self._wait = wait
        self._opener = urllib.request.build_opener(_Stay)

    def permission(self, login: str) -> ApiAnswer:
        """Return GitHub's answer about a person's permission here;
        `forge_bot.gate.roles.read_standing` reads it.
        """
        return self._ask("GET", f"{self._base}/collaborators/{quote(login, safe='')}/permission")

    def pull(self, number: int) -> ApiAnswer:
        """A pull request."""
        return self._ask("GET", f"{self._base}/pulls/{number}")

    def comments(self, issue: int, page: int, size: int) -> ApiAnswer:
        """Comments of an issue or pull request, the oldest first."""
        return self._ask("GET", f"{self._base}/issues/{issue}/comments?per_page={size}&page={page}")

    def react_to_comment(self, comment: int, content: str) -> ApiAnswer:
        """Put a reaction on a comment; one that is there already stays."""
        return self._ask(
            "POST", f"{self._base}/issues/comments/{comment}/reactions", {"content": content}
        )

    def react_to_issue(self, issue: int, content: str) -> ApiAnswer:
        """Put a reaction on an issue."""
        return self._ask("POST", f"{self._base}/issues/{issue}/reactions", {"content": content})

    def comment(self, issue: int, body: str) -> ApiAnswer:
        """Write a comment. It is not tried again when it may have been written."""
        return self._ask(
            "POST", f"{self._base}/issues/{issue}/comments", {"body": body}, again=False
        )

    def edit_comment(self, comment: int, body: str) -> ApiAnswer:
        """Give a comment another text."""
        return self._ask("PATCH", f"{self._base}/issues/comments/{comment}", {"body": body})

    def _ask(
        self, method: str, url: str, body: Mapping[str, str] | None = None, *, again: bool = True
    ) -> ApiAnswer:
        answer = ApiAnswer(0, Node(), say("gate.github.not_asked"))
        for attempt in range(_TRIES):
            answer, headers = self._once(method, url, body)
            pause = _pause(answer, headers, attempt, again=again)
            if pause is None or attempt == _TRIES - 1:
                break
            self._wait(pause)
        return answer

    def _once(
        self, method: str, url: str, body: Mapping[str, str] | None
    ) -> tuple[ApiAnswer, Mapping[str, str]]:
        # The address begins with that of the API, which the runner names.
        request = urllib.request.Request(  # noqa: S310
            url,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "forge-bot",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        try:
            return self._opened(request)
        except (OSError, ValueError, http.client.HTTPException) as error:
            return ApiAnswer(
                0, Node(), say("gate.github.not_reached", error=type(error).__name__)
            ), {}

    def _opened(self, request: urllib.request.Request) -> tuple[ApiAnswer, Mapping[str, str]]:
        try:
            reply = cast("http.client.HTTPResponse", self._opener.open(request, timeout=TIMEOUT))
        except urllib.error.HTTPError as error:
            with error:
                return _read(error.code, error), _lower(error.headers)
        with reply:
            return _read(reply.status, reply), _lower(reply.headers)


def _read(status: int, stream: IO[bytes]) -> ApiAnswer:
    data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        return ApiAnswer(0, Node(), say("gate.github.too_large"))
    return ApiAnswer(status, read_json(data))


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _pause(
    answer: ApiAnswer, headers: Mapping[str, str], attempt: int, *, again: bool
) -> float | None:
    """Seconds until the question is asked again; None when the answer stands.

    `retry-after` comes with the secondary limits
    (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api). Such
    a question was not carried out, so that it can be asked again even if it writes.
    """
    if answer.status in _TOO_FAST and (after := headers.get("retry-after", "")).isdecimal():
        return float(after) if float(after) <= LONGEST_WAIT else None
    if answer.status in _BROKEN or answer.status == 0:
        return 0.5 * 3**attempt if again else None
    return None
