"""Send requests to GitHub through PyGithub, one at a time, also within one repository.

It waits only as long as allowed, and every failure is one of our errors. PyGithub provides the
connection, the token and the redirect of reads. Its own objects are not used: they treat a
redirected write (307) as a result, send extra requests for fields they consider missing, and sleep
by themselves.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import Field, TypeAdapter, ValidationError

from forge_bot.errors import (
    BadAddress,
    GitHubRefused,
    GitHubUnavailable,
    MovedElsewhere,
    NotOnGitHub,
    PermissionMissing,
    RateLimited,
    StrangeAnswer,
    TokenRefused,
)
from forge_bot.github_api.github_errors import rate_limit_error, refusal_error
from forge_bot.github_api.types import FromGitHub, SeenRepository
from forge_bot.sentences import say

if TYPE_CHECKING:
    from github import Auth, Github

Verb = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
T = TypeVar("T")
_TIMEOUT = 20
_TRIES = 3
# The API version is fixed, so that a newer one does not change responses (REST, API versions).
_VERSION = "2022-11-28"
_HEADERS = {"Accept": "application/vnd.github+json"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

PAGE = {"per_page": "100"}


@dataclass(frozen=True)
class ApiRequest:
    """A request in the words of an error:

    the failed step (`#4 could not be read`) and its object.
    """

    what: str
    thing: str = "page"


@dataclass(frozen=True)
class ApiResponse:
    """A response that is no refusal. `following` is the URL of the next page."""

    errand: ApiRequest
    status: int
    headers: Mapping[str, str]
    data: Any

    @property
    def following(self) -> str:
        """Return the URL of the next page of a list, empty on the last one (REST, pagination)."""
        match = re.search(r'<([^>]+)>\s*;\s*rel="next"', self.headers.get("link", ""))
        return match[1] if match else ""

    def read(self, kind: type[T]) -> T:
        """Return the response as one of our JSON models. Raises StrangeAnswer."""
        try:
            return TypeAdapter(kind).validate_python(self.data)
        except ValidationError:
            raise StrangeAnswer(
                say("github.request_runner.not_an_answer_of_github", what=self.errand.what)
            ) from None


@dataclass(frozen=True)
class AppIdentity:
    """An App, by its id and its private key; it asks for tokens and does nothing else."""

    id: str
    key: str = field(repr=False)

    def auth(self) -> "Auth.Auth":
        """Return what signs requests as the App."""
        from github import Auth

        return Auth.AppAuth(self.id, self.key)


class RequestRunner:
    """A connection to one API; `timeout` in whole seconds.

    `wait` is called with seconds, never for more than `patience` in all for one request.
    """

    def __init__(
        self,
        address: str,
        token: "str | AppIdentity | None",
        *,
        wait: Callable[[float], None],
        patience: float,
        timeout: int = _TIMEOUT,
    ) -> None:
        self._wait, self._patience = wait, patience
        self._address, self._token, self._timeout = (
            checked_address(address),
            token if isinstance(token, AppIdentity) else checked_token(token),
            timeout,
        )

    @cached_property
    def _client(self) -> "Github":
        """The client, created at the first request because its library loads slowly."""
        return _client(self._address, self._token, self._timeout)

    def close(self) -> None:
        """Close the connection."""
        if "_client" in vars(self):
            self._client.close()

    def ask(
        self,
        errand: ApiRequest,
        verb: Verb,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        same: bool = False,
    ) -> ApiResponse:
        """Send one request, repeated while that is allowed and harmless. Raises a GitHubError.

        A limit that ends within the patience is waited for: GitHub carried nothing out. After a
        failure of the server or the connection only reads and changes of a text are repeated, and
        what is the `same` when it is done twice: any other write may have been carried out.
        """
        left, tries = self._patience, 1
        while True:
            error, seconds = None, 2.0 ** (tries - 1)
            try:
                answer = self._asked(errand, verb, path, query, body)
            except GitHubUnavailable as failure:
                error = failure
            except RateLimited as limited:
                if limited.seconds is None or limited.seconds > left:
                    raise
                error, seconds = limited, float(limited.seconds)
            else:
                return answer
            again = same or verb in {"GET", "PATCH"} or isinstance(error, RateLimited)
            if not again or tries >= _TRIES or seconds > left:
                raise error
            self._wait(seconds)
            left, tries = left - seconds, tries + 1

    def _asked(
        self, errand: ApiRequest, verb: Verb, path: str, query: Mapping[str, str] | None, body: Any
    ) -> ApiResponse:
        address = self._client.requester.graphql_url if path == "/graphql" else path
        try:
            status, headers, text = self._client.requester.requestJson(
                verb, address, dict(query or {}), dict(_HEADERS), body
            )
        # requests' errors are OSErrors; some of them (a broken header) are ValueErrors as well.
        except OSError as error:
            raise _no_answer(errand, verb, type(error).__name__) from None
        # PyGithub raises these for a response that is not valid HTTP, and for a move to another
        # host.
        except (RuntimeError, AssertionError, TypeError, ValueError, AttributeError):
            raise StrangeAnswer(
                say("github.request_runner.not_an_answer_of_github", what=errand.what)
            ) from None
        if limited := rate_limit_error(errand.what, status, headers, text):
            raise limited
        if status >= HTTPStatus.MULTIPLE_CHOICES and status != HTTPStatus.FOUND:
            raise refusal_error(errand.what, errand.thing, status, headers, text)
        return ApiResponse(errand, status, headers, _data(errand, text))


def load_library() -> None:
    """Load the GitHub library, in a thread beside another wait such as a clone."""
    import_module("github")


def _no_answer(errand: ApiRequest, verb: Verb, name: str) -> GitHubUnavailable:
    hint = None if verb == "GET" else say("github.request_runner.look_before_trying_again")
    return GitHubUnavailable(
        say("github.request_runner.no_answer", what=errand.what, name=name), hint=hint
    )


def _data(errand: ApiRequest, text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        raise StrangeAnswer(
            say("github.request_runner.not_an_answer_of_github", what=errand.what)
        ) from None


def checked_token(token: str | None) -> str | None:
    """Return the token without a trailing line end.

    Raises TokenRefused for a text that cannot be a token; the error does not show it.
    """
    token = (token or "").strip()
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise TokenRefused(
            say("github.request_runner.malformed_token"),
            hint=say("github.request_runner.set_the_token_again"),
        )
    return token or None


def checked_address(address: str) -> str:
    """Return an address that may receive a token: https, or this machine. Raises BadAddress."""
    try:
        parts = urlsplit(address)
        known = parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        known, parts = None, urlsplit("")
    # A token must not be sent unencrypted; loopback stays on this machine.
    if known and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    ):
        return address
    raise BadAddress(say("github.request_runner.no_https_address", address=address))


def _client(address: str, token: str | AppIdentity | None, timeout: int) -> "Github":
    from github import Auth, Github

    signs = isinstance(token, AppIdentity)
    auth = token.auth() if signs else Auth.Token(token) if token else None
    try:
        return Github(
            auth=auth,
            base_url=address,
            timeout=timeout,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
            api_version=_VERSION,
        )
    except (AssertionError, ValueError):
        raise BadAddress(say("github.request_runner.no_address", address=address)) from None


class _GraphError(FromGitHub):
    message: str
    type: str = ""


class _GraphAnswer(FromGitHub):
    errors: list[_GraphError] = Field(default_factory=list[_GraphError])


class RepositoryRequests:
    """A repository by its name, owner/name. The name is updated if the repository was renamed."""

    def __init__(self, name: str, caller: RequestRunner) -> None:
        self.name, self.caller = name, caller

    def ask(
        self,
        errand: ApiRequest,
        verb: Verb,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        same: bool = False,
    ) -> ApiResponse:
        """Send a request in the repository.

        A write is repeated once if the repository has another name now.
        """
        try:
            return self.caller.ask(
                errand, verb, f"/repos/{self.name}{path}", query=query, body=body, same=same
            )
        except MovedElsewhere:
            name = self._current_name(errand)
            if name == self.name:
                raise
            self.name = name
            return self.caller.ask(
                errand, verb, f"/repos/{name}{path}", query=query, body=body, same=same
            )

    def errand(self, name: str, thing: str, **values: object) -> ApiRequest:
        """Return a request in the words of a sentence about the repository."""
        return ApiRequest(say(name, repository=self.name, **values), thing)

    def _current_name(self, errand: ApiRequest) -> str:
        return self.caller.ask(errand, "GET", f"/repos/{self.name}").read(SeenRepository).full_name

    def pages(
        self, errand: ApiRequest, path: str, query: Mapping[str, str] = PAGE
    ) -> Iterator[ApiResponse]:
        """Yield the pages of a list."""
        page = self.ask(errand, "GET", path, query=query)
        yield page
        while page.following:
            # The URL is GitHub's own. PyGithub receives only its path, so that the token stays at
            # its host.
            page = self.caller.ask(errand, "GET", page.following)
            yield page

    def every(
        self, errand: ApiRequest, path: str, kind: type[T], query: Mapping[str, str] = PAGE
    ) -> Iterator[T]:
        """Yield the entries of a list."""
        for page in self.pages(errand, path, query):
            yield from page.read(list[kind])

    def check(self, errand: ApiRequest, repository: str, page: str) -> None:
        """Raise MovedElsewhere for a result that belongs to another `repository`.

        `page` is the place where a person finds it. GitHub redirects a read silently, both for a
        renamed repository and for an issue that was transferred to another one.
        """
        there = "/".join(repository.split("/")[-2:])
        if not repository or there.lower() == self.name.lower():
            return
        self.name = self._current_name(errand)
        if there.lower() != self.name.lower():
            raise MovedElsewhere(
                say("github.request_runner.moved", what=errand.what, page=page), to=page
            )

    def graphql(
        self, errand: ApiRequest, query: str, variables: Mapping[str, object]
    ) -> ApiResponse:
        """Send a GraphQL query, whose errors come with status 200.

        Raises NotOnGitHub, PermissionMissing, GitHubRefused.
        """
        sent = {"query": query, "variables": dict(variables)}
        answer = self.caller.ask(errand, "POST", "/graphql", body=sent, same=True)
        what = errand.what
        for error in answer.read(_GraphAnswer).errors:
            if error.type == "NOT_FOUND":
                raise NotOnGitHub(
                    say("github.github_errors.not_found", what=what, thing=errand.thing)
                )
            if error.type in {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
                raise PermissionMissing(
                    say("github.pygithub.forbidden", what=what, message=error.message)
                )
            raise GitHubRefused(say("github.pygithub.not_taken", what=what, message=error.message))
        return answer
