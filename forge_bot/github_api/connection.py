"""A connection to one repository on GitHub, through PyGithub."""

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Self, TypeVar

from forge_bot.errors import TextTooLong
from forge_bot.github_api.github_calls import call, checked_address, checked_token, make_client

if TYPE_CHECKING:
    from github import Github
    from github.Repository import Repository

T = TypeVar("T")

LONGEST_BODY = 65_536
_MOST_BYTES = 4 * LONGEST_BODY
LONGEST_TITLE = 256


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
        from github import Auth

        auth = Auth.Token(self._token) if self._token else None
        return make_client(self._address, auth, self._timeout)

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

    def _do(self, what: str, thing: str, ask: Callable[[], T], *, again: bool = True) -> T:
        """Return what PyGithub answers; only what is the same when it is done twice may be done
        `again`.
        """
        return call(what, thing, ask, again=again, wait=self._wait, patience=self._patience)


def check_length(what: str, body: str, title: str = "") -> None:
    """Raise TextTooLong for what GitHub would not take."""
    if len(body) > LONGEST_BODY or len(body.encode(errors="surrogatepass")) > _MOST_BYTES:
        raise TextTooLong(
            f"{what}: it has {len(body):,} characters; GitHub takes {LONGEST_BODY:,}."
        )
    if len(title) > LONGEST_TITLE:
        raise TextTooLong(
            f"{what}: its title has {len(title):,} characters; GitHub takes {LONGEST_TITLE}."
        )
