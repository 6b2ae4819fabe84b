"""GitHub's answers, and the few questions that the gate asks it over urllib: an answer or the
reason why there is none, never an exception.

The own comments are found by their hidden marks, so that nothing is written twice.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, cast
from urllib.parse import quote

from forge_bot.forge.json_values import Node, read_json
from forge_bot.forge.types import Account, AccountKind, Membership, Role, UnknownRole, account_named

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector

# -- accounts and roles
# --------------------------------------------------------------------------------------------------

_KINDS = {"User": AccountKind.PERSON, "Bot": AccountKind.BOT}


def read_account(node: Node) -> Account | None:
    """Return the account in a payload or answer; None for one that is missing or has no possible
    name, as deleted accounts leave it.
    """
    account = account_named(node.text("login"))
    if account is None or account.kind is not AccountKind.PERSON:
        return account and Account(account.login, account.kind, node.number("id") or 0)
    kind = _KINDS.get(node.text("type"), AccountKind.OTHER)
    return Account(account.login, kind, node.number("id") or 0)


_OK, _NOT_FOUND = 200, 404
_ROLES = {role.word: role for role in Role}
# What the older field can mean at most: it knows maintain as write, and triage as read.
_AT_MOST = {"admin": Role.ADMIN, "write": Role.MAINTAIN, "read": Role.TRIAGE, "none": Role.NONE}
_FLAGS = (
    ("admin", Role.ADMIN),
    ("maintain", Role.MAINTAIN),
    ("push", Role.WRITE),
    ("triage", Role.TRIAGE),
    ("pull", Role.READ),
)


def read_membership(login: str, status: int, answer: Node, trouble: str = "") -> Membership:
    """Return the role in an answer to
    `GET /repos/{owner}/{repo}/collaborators/{username}/permission`
    (https://docs.github.com/en/rest/collaborators/collaborators, "Get repository permissions").

    `role_name` decides. A custom role counts as the role it is built on, as the `permissions` of
    the same answer show it. Where fields contradict each other the lower one counts; without the
    field `permission`, or about somebody else, nothing does. `trouble` is why there is no answer.
    """
    if trouble:
        return UnknownRole(trouble)
    if status == _NOT_FOUND:
        return UnknownRole("GitHub knows no such user")
    if status != _OK:
        return UnknownRole(f"GitHub answered {status} {answer.text('message')[:100]}".strip())
    legacy, name = answer.text("permission"), answer.text("role_name")
    account = read_account(answer["user"])
    if legacy not in _AT_MOST or account is None or not account.named(login):
        return UnknownRole("GitHub's answer names no permission of theirs")
    # Old servers name no role.
    role = _ROLES.get(name or legacy)
    if role is None:
        flags = answer.at("user", "permissions")
        role = next((role for flag, role in _FLAGS if flags.true(flag)), Role.NONE)
    return min(role, _AT_MOST[legacy])


# -- the questions of the gate
# --------------------------------------------------------------------------------------------------

TIMEOUT = 10.0
"""Seconds for one answer."""

PAGE = 100
_LARGEST = 64 * 2**20


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """A status and what came with it. Status 0: no answer came, and `reason` says why."""

    status: int
    body: Node
    reason: str = ""

    @property
    def good(self) -> bool:
        """Return whether the request succeeded."""
        return self.status // 100 == 2  # noqa: PLR2004 - the first digit of a good status

    @property
    def problem(self) -> str:
        """Return the problem, for a log."""
        return self.reason or f"status {self.status} {self.body.text('message')[:100]}".strip()


def staying_opener() -> "OpenerDirector":
    """Return an opener for which a redirect is no answer: urllib would send the token along to
    wherever it leads.
    """
    from urllib.request import HTTPRedirectHandler, build_opener

    class Staying(HTTPRedirectHandler):
        def redirect_request(self, *_redirect: object, **_more: object) -> None:
            pass

    return build_opener(Staying)


_BROKEN = frozenset({0, 500, 502, 503, 504})
_PAUSE = 1.0


class GateClient:
    """One repository, asked with one token that goes to the host of the API and to no other. Each
    question is asked once: where there is no answer, the step is red and can be run again.
    """

    def __init__(self, api: str, repository: str, token: str) -> None:
        self._base = f"{api}/repos/{repository}"
        self._token = token
        self._opener = staying_opener()

    def membership(self, login: str) -> Membership:
        """Return a person's role here, or why it is not known."""
        answer = self._ask("GET", f"collaborators/{quote(login, safe='')}/permission")
        return read_membership(login, answer.status, answer.body, answer.reason)

    def branch_of_pull(self, number: int) -> str:
        """Return the branch of a pull request, if it lies here: one of a fork may have any name."""
        answer = self._ask("GET", f"pulls/{number}")
        head, base = answer.body["head"], answer.body["base"]
        repository = head.number("repo", "id")
        own = answer.good and repository is not None and repository == base.number("repo", "id")
        return head.text("ref") if own else ""

    def comments(self, issue: int, page: int) -> ApiAnswer:
        """Return comments of an issue or pull request, the oldest first."""
        return self._ask("GET", f"issues/{issue}/comments?per_page={PAGE}&page={page}")

    def react(self, content: str, issue: int, comment: int | None = None) -> ApiAnswer:
        """Put a reaction on an issue or on a comment of it; one that is there stays."""
        place = f"issues/{issue}" if comment is None else f"issues/comments/{comment}"
        return self._ask("POST", f"{place}/reactions", {"content": content})

    def comment(self, issue: int, body: str) -> ApiAnswer:
        """Write a comment."""
        return self._ask("POST", f"issues/{issue}/comments", {"body": body})

    def edit_comment(self, comment: int, body: str) -> ApiAnswer:
        """Give a comment another text."""
        return self._ask("PATCH", f"issues/comments/{comment}", {"body": body})

    def _ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> ApiAnswer:
        """Ask GitHub; a read that its servers could not answer is asked once more."""
        answer = self._ask_once(method, path, body)
        if method != "GET" or answer.status not in _BROKEN:
            return answer
        time.sleep(_PAUSE)
        return self._ask_once(method, path, body)

    def _ask_once(self, method: str, path: str, body: Mapping[str, str] | None) -> ApiAnswer:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request

        # The address begins with that of the API, which the runner names.
        request = Request(  # noqa: S310
            f"{self._base}/{path}",
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
            reply = cast("HTTPResponse", self._opener.open(request, timeout=TIMEOUT))
            with reply:
                return _read(reply.status, reply)
        except HTTPError as error:
            with error:
                return _read(error.code, error)
        except (OSError, ValueError, HTTPException) as error:
            reason = f"GitHub could not be asked: {type(error).__name__}"
            return ApiAnswer(0, Node(), reason)


def _read(status: int, stream: IO[bytes]) -> ApiAnswer:
    data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        return ApiAnswer(0, Node(), "GitHub's answer is too large")
    return ApiAnswer(status, read_json(data))


@dataclass(frozen=True, slots=True)
class OwnComment:
    """A comment that forge-bot wrote."""

    id: int
    body: str


class OwnComments:
    """One issue or pull request. Its comments are read once, when somebody asks, and only the own
    ones are kept. Anybody can copy a mark, so the author decides.
    """

    def __init__(self, client: GateClient, number: int, own: str) -> None:
        self.number = number
        self._client = client
        self._own = own
        self._comments: list[OwnComment] = []
        self._problem: str | None = None

    def find(self, mark: str) -> OwnComment | None:
        """Return the first own comment that ends with this mark."""
        if self._problem is None:
            self._problem = self._load()
        return next((own for own in self._comments if own.body.rstrip().endswith(mark)), None)

    def write_once(self, mark: str, text: str) -> tuple[OwnComment | None, str]:
        """Write a comment and below it this mark, unless it is there. Return the comment, and the
        problem if there is one.
        """
        if (written := self.find(mark)) is not None or self._problem:
            return written, self._problem or ""
        body = f"{text}\n\n{mark}"
        answer = self._client.comment(self.number, body)
        number, account = answer.body.number("id"), read_account(answer.body["user"])
        if not answer.good or number is None:
            return None, answer.problem
        comment = OwnComment(number, body)
        self._comments.append(comment)
        if account is None or account.named(self._own):
            return comment, ""
        return comment, (
            f"comments are written as {account.login}; set FORGE_BOT_LOGIN to it, or the next run"
            " will not know its own"
        )

    def _load(self) -> str:
        """Read the comments; return the problem, empty without one."""
        page, nodes = 1, list[Node]()
        while page == 1 or len(nodes) == PAGE:
            answer = self._client.comments(self.number, page)
            if not answer.good or not isinstance(answer.body.value, list):
                self._comments.clear()
                return f"the comments could not be read: {answer.problem}"
            page, nodes = page + 1, list(answer.body.items())
            for node in nodes:
                author, number = read_account(node["user"]), node.number("id")
                if author is not None and author.named(self._own) and number is not None:
                    self._comments.append(OwnComment(number, node.text("body")))
        return ""
