"""A connection to one repository on GitHub, through PyGithub: how long is waited, and what a
refusal means: the failed step, the reason and the way out.
"""

import re
import time
from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from inspect import signature
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar
from urllib.parse import urlsplit

from forge_bot.errors import (
    BadAddress,
    ConversationLocked,
    ForgeError,
    GitHubError,
    GitHubRefused,
    GitHubUnavailable,
    MovedElsewhere,
    NotOnGitHub,
    PermissionMissing,
    RateLimited,
    StrangeAnswer,
    TokenRefused,
)
from forge_bot.forge.json_values import Node

if TYPE_CHECKING:
    from github import Github
    from github.Repository import Repository


T = TypeVar("T")
Given = ParamSpec("Given")
Caller = TypeVar("Caller", bound="Connection")
Headers = Mapping[str, str]
_TRIES = 3
# The API version is fixed, so that a newer one does not change responses (REST, API versions).
_VERSION = "2022-11-28"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_LIMITED = frozenset({403, 429})
_SERVER_ERRORS = range(500, 600)
# GitHub asks for a minute if it names no time (REST, best practices: secondary rate limits).
_UNNAMED_SECONDS = 60


class Connection:
    """A connection to the repository `name` (owner/name), for a `with` in one thread at a time.

    Every method may raise a GitHubError. A method that raises has changed nothing, unless its
    docstring says otherwise.

    `wait` is called with seconds when GitHub asks for a pause. A pause longer than `patience`
    raises RateLimited instead.
    """

    def __init__(
        self,
        name: str,
        token: str | None,
        address: str = "https://api.github.com",
        *,
        wait: Callable[[float], None] = time.sleep,
        patience: float = 60.0,
        timeout: int = 20,
    ) -> None:
        self.name = name
        self._token, self._address = checked_token(token), checked_address(address)
        self._wait, self._patience, self._timeout = wait, patience, timeout

    @cached_property
    def _client(self) -> "Github":
        """The client, created at the first request because its library loads slowly."""
        from github import Auth, Github

        # It waits for nothing and repeats nothing by itself.
        return Github(
            auth=Auth.Token(self._token) if self._token else None,
            base_url=self._address,
            timeout=self._timeout,
            per_page=100,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
            api_version=_VERSION,
        )

    @property
    def _repository(self) -> "Repository":
        return self._client.get_repo(self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if "_client" in vars(self):
            self._client.close()

    def do(self, what: str, thing: str, ask: Callable[[], T], *, again: bool = True) -> T:
        """Return what PyGithub answers. Raises a GitHubError, which says that `what` failed.

        A limit that ends within the patience is waited for: GitHub carried nothing out. After a
        failure of the server or the connection `ask` is repeated where it may be done `again`.
        """
        left = self._patience
        for attempt in range(_TRIES):
            try:
                return ask()
            except ForgeError:
                raise
            # PyGithub raises errors of many kinds for an answer that is not GitHub's.
            except Exception as raised:
                error = _error_of(what, thing, raised, again=again)
                pause = None
                if isinstance(error, RateLimited):
                    pause = error.seconds
                elif again and isinstance(error, GitHubUnavailable):
                    pause = 2**attempt
                if pause is None or pause > left or attempt == _TRIES - 1:
                    raise error from raised
                self._wait(float(pause))
                left -= pause
        raise AssertionError("the last try returns or raises")


def call(
    what: str, thing: str, *, again: bool = True
) -> Callable[[Callable[Concatenate[Caller, Given], T]], Callable[Concatenate[Caller, Given], T]]:
    """Make a method one call of GitHub, as `do` does it. `what` says that it failed, with places
    for the repository's `name` and the arguments.
    """

    def decorate(
        method: Callable[Concatenate[Caller, Given], T],
    ) -> Callable[Concatenate[Caller, Given], T]:
        parameters = signature(method)

        @wraps(method)
        def ask(self: Caller, *args: Given.args, **named: Given.kwargs) -> T:
            given = dict(parameters.bind(self, *args, **named).arguments)
            sentence = what.format(name=self.name, **given)
            return self.do(sentence, thing, lambda: method(self, *args, **named), again=again)

        return ask

    return decorate


def _error_of(what: str, thing: str, raised: Exception, *, again: bool) -> GitHubError:
    from github import GithubException

    if isinstance(raised, GithubException):
        headers = {name.lower(): str(text) for name, text in (raised.headers or {}).items()}
        answer = Node(raised.data)
        limited = _rate_limited(what, raised.status, headers, answer.text("message"))
        return limited or _refusal(what, thing, raised.status, headers, answer)
    # What `requests` raises is an OSError.
    if isinstance(raised, OSError):
        name = type(raised).__name__
        done = "It may have been carried out all the same: look before trying again."
        hint = None if again else done
        return GitHubUnavailable(f"{what}: GitHub did not answer ({name}).", hint=hint)
    return StrangeAnswer(f"{what}: the answer is not GitHub's.")


def _rate_limited(what: str, status: int, headers: Headers, message: str) -> RateLimited | None:
    """Return the error for an exhausted limit, with the seconds until it ends; None for any other
    response.
    """
    is_empty, wait = headers.get("x-ratelimit-remaining") == "0", headers.get("retry-after", "")
    if status not in _LIMITED or not (is_empty or wait or "rate limit" in message.lower()):
        return None
    seconds = int(wait) if wait.isdecimal() else _UNNAMED_SECONDS
    hint = None
    if is_empty and not wait:
        seconds = _seconds_until_reset(headers)
        hint = "Set GITHUB_TOKEN for a higher limit, or wait until then."
    time_left = f" for {seconds} seconds" if seconds is not None else ""
    sentence = f"{what}: the rate limit is used up{time_left}."
    return RateLimited(sentence, seconds=seconds, hint=hint)


def _seconds_until_reset(headers: Headers) -> int | None:
    """Return the seconds by GitHub's own clock, from the same response: the clock of this machine
    may be wrong.
    """
    from email.utils import parsedate_to_datetime

    reset = headers.get("x-ratelimit-reset", "")
    try:
        now = parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        return None
    return max(int(reset) - int(now), 0) + 1 if re.fullmatch("[0-9]{1,11}", reset) else None


def _refusal(what: str, thing: str, status: int, headers: Headers, answer: Node) -> GitHubError:
    """Return the error for a refused request: `what` could not be done with `thing`."""
    match status:
        case 401:
            return TokenRefused(f"{what}: the token is not accepted.")
        case 403:
            return _forbidden(what, answer.text("message"), headers)
        case 404:
            return NotOnGitHub(f"{what}: there is no such {thing}, or the token may not see it.")
        case 410:
            return NotOnGitHub(f"{what}: the {thing} was deleted, or issues are turned off there.")
        case 301 | 302 | 307 | 308:
            to = headers.get("location", "") or "another address"
            return MovedElsewhere(f"{what}: the {thing} has moved to {to}.", to=to)
        case 400 | 405 | 409 | 422:
            return _refused_request(what, answer, status)
        case _:
            kind = GitHubUnavailable if status in _SERVER_ERRORS else StrangeAnswer
            return kind(f"{what}: GitHub answered {status}.")


def _refused_request(what: str, answer: Node, status: int) -> GitHubError:
    """Return the error for what GitHub does not take. A query of GraphQL has its own errors."""
    errors = list(answer.items("errors"))
    if any(error.text("type") == "FORBIDDEN" for error in errors):
        message = errors[0].text("message")
        return PermissionMissing(f"{what}: access is forbidden (GitHub says: {message}).")
    problems = [*map(_field_problem, errors), answer.text("errors")]
    details = tuple(problem for problem in problems if problem)
    why = "; ".join(details) or answer.text("message") or f"it answered {status}"
    sentence = f"{what}: GitHub does not take it: {why.rstrip('.')}."
    return GitHubRefused(sentence, details=details, exists_already="already exists" in why)


def _field_problem(error: Node) -> str:
    """Return the problem of one field of a 422 response; some operations send only sentences."""
    if isinstance(error.value, str):
        return error.value
    code = error.text("code").replace("_", " ")
    return error.text("message") or f"{error.text('field') or 'something'} is {code}"


def _forbidden(what: str, message: str, headers: Headers) -> GitHubError:
    if "locked" in message.lower():
        return ConversationLocked(f"{what}: the conversation is locked.")
    if "not permitted to create or approve pull requests" in message:
        return PermissionMissing(
            f"{what}: this repository does not let GitHub Actions open pull requests.",
            hint="Settings → Actions → General → Allow GitHub Actions to create and approve"
            " pull requests.",
        )
    hint = None
    if "archived" in message.lower():
        hint = "Unarchive the repository in its settings; everything so far is on the run's branch."
    # Every response has this header. It is the reason only if GitHub says that the token cannot
    # access the resource.
    named = ""
    if message.startswith("Resource not accessible"):
        named = headers.get("x-accepted-github-permissions", "")
    needed = named.replace("=", ": ").replace("; ", " or ").replace(",", " and ")
    needs = f"; it needs the permission {needed}" if needed else ""
    quoted = f" (GitHub says: {message.rstrip('.')})" if message else ""
    details = (needed,) if needed else ()
    return PermissionMissing(
        f"{what}: access is forbidden{needs}{quoted}.", hint=hint, details=details
    )


def checked_token(token: str | None) -> str | None:
    """Return the token without a trailing line end.

    Raises TokenRefused for a text that cannot be a token; the error does not show it.
    """
    token = (token or "").strip()
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        sentence = "GITHUB_TOKEN holds signs that no token has; it was not sent."
        raise TokenRefused(sentence, hint="Set it anew.")
    return token or None


def checked_address(address: str) -> str:
    """Return an address that may receive a token: https, or this machine. Raises BadAddress."""
    try:
        parts = urlsplit(address)
        host, scheme = parts.hostname if parts.port != 0 else None, parts.scheme
    except ValueError:
        host, scheme = None, ""
    # A token must not be sent unencrypted; loopback stays on this machine.
    if host and (scheme == "https" or (scheme == "http" and host in _LOOPBACK)):
        return address
    raise BadAddress(f"{address!r} is no https address of an API.")
