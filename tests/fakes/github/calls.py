"""One request on its way through the fake, and the table of routes, in the words of GitHub's own
description.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.fakes.github.people import Role, Token, User
from tests.fakes.github.replies import Refused, Reply, Thing, mapping, not_found, unfit
from tests.fakes.github.state import Issue, Repository

if TYPE_CHECKING:
    from tests.fakes.github.hub import FakeGitHub

R = "/repos/{owner}/{repo}"
Handler = Callable[["Call"], Reply]
_SLASHES = frozenset({"path", "ref", "basehead", "branch"})


@dataclass(frozen=True)
class Route:
    """One operation: what a person needs to be, and which permissions (any one of them) an App's
    token needs.
    """

    method: str
    template: str
    handler: Handler
    role: Role
    permissions: tuple[tuple[str, str], ...]
    pattern: re.Pattern[str]

    @property
    def accepted(self) -> str:
        """What GitHub says in x-accepted-github-permissions; alternatives are parted by
        semicolons.
        """
        return "; ".join(f"{area}={level}" for area, level in self.permissions)


ROUTES: list[Route] = []


def route(
    method: str, template: str, *permissions: str, role: Role = Role.READ
) -> Callable[[Handler], Handler]:
    """Register a handler. Permissions are written `issues=write`."""
    pieces = re.split(r"(\{[a-z_]+\})", template)
    pattern = "".join(
        (
            f"(?P<{piece[1:-1]}>{'.+?' if piece[1:-1] in _SLASHES else '[^/]+'})"
            if piece.startswith("{")
            else re.escape(piece)
        )
        for piece in pieces
    )
    needs = tuple(
        (area, level) for area, _, level in (words.partition("=") for words in permissions)
    )

    def keep(handler: Handler) -> Handler:
        ROUTES.append(Route(method, template, handler, role, needs, re.compile(pattern + "/?")))
        ROUTES.sort(key=lambda found: -len(re.sub(r"\{[a-z_]+\}", "", found.template)))
        return handler

    return keep


@dataclass
class Call:
    """A request that was recognised. `user` None is somebody without a token."""

    hub: "FakeGitHub"
    route: Route
    params: dict[str, str]
    query: dict[str, str]
    body: Any
    token: Token | None
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def user(self) -> User | None:
        """Who asks."""
        return self.token.user if self.token else None

    @property
    def someone(self) -> User:
        """Who asks, where authorisation has made sure that somebody does."""
        assert self.token is not None
        return self.token.user

    @property
    def repo(self) -> Repository:
        """The repository in the address."""
        return self.hub.found(self.params["owner"], self.params["repo"])

    def issue(self, name: str = "issue_number") -> Issue:
        """The issue or pull request in the address; 404, 410 and 301 as GitHub says them."""
        text = self.params[name]
        issue = self.repo.issues.get(int(text)) if text.isdigit() else None
        if issue is None:
            raise not_found()
        return self.hub.present(self, issue)

    def given(self) -> Thing:
        """The body, which has to be an object."""
        body: object = self.body
        if not isinstance(body, dict):
            raise Refused(400, "Body should be a JSON object")
        return mapping(self.body)

    def text(self, name: str, resource: str, *, limit: int = 0) -> str:
        """A text of the body that has to be there."""
        value = self.given().get(name)
        if not isinstance(value, str) or not value.strip():
            raise unfit(resource, name, "missing_field" if value is None else "invalid")
        if limit and len(value) > limit:
            raise unfit(
                resource, name, "custom", f"{name} is too long (maximum is {limit} characters)"
            )
        return value

    def may(self, role: Role, *permissions: str) -> bool:
        """Whether the caller is at least that in the repository; an App's token is asked for the
        permissions instead.
        """
        if self.token is None:
            return False
        if self.token.app:
            return any(
                self.token.holds(*words.split("="))
                for words in permissions or ("administration=write",)
            )
        return self.repo.role(self.token.user) >= role


def matching(method: str, path: str) -> tuple[Route | None, dict[str, str]]:
    """The route for a path, the one with most literal text first."""
    for found in ROUTES:
        if found.method == method and (match := found.pattern.fullmatch(path)):
            return found, {name: unquote(value) for name, value in match.groupdict().items()}
    return None, {}
