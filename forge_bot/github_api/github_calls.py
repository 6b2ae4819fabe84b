"""Call PyGithub: its address and token, how long is waited, and what an error means."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from forge_bot.errors import (
    BadAddress,
    ForgeError,
    GitHubError,
    GitHubUnavailable,
    RateLimited,
    StrangeAnswer,
    TokenRefused,
)
from forge_bot.github_api.github_errors import rate_limit_error, refusal_error

if TYPE_CHECKING:
    from github import Auth, Github

T = TypeVar("T")
_TRIES = 3
# The API version is fixed, so that a newer one does not change responses (REST, API versions).
_VERSION = "2022-11-28"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def make_client(address: str, auth: "Auth.Auth | None", timeout: int) -> "Github":
    """Return a client that waits for nothing and repeats nothing by itself."""
    from github import Github

    return Github(
        auth=auth,
        base_url=checked_address(address),
        timeout=timeout,
        per_page=100,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,
        api_version=_VERSION,
    )


def call(
    what: str,
    thing: str,
    ask: Callable[[], T],
    *,
    again: bool = True,
    wait: Callable[[float], None] = time.sleep,
    patience: float = 0,
) -> T:
    """Return what PyGithub answers. Raises a GitHubError, which says that `what` failed.

    A limit that ends within the patience is waited for: GitHub carried nothing out. After a failure
    of the server or the connection `ask` is repeated where it may be done `again`.
    """
    left = patience
    for attempt in range(_TRIES):
        try:
            return ask()
        except ForgeError:
            raise
        # PyGithub raises errors of many kinds for an answer that is not GitHub's.
        except Exception as raised:
            error = _error_of(what, thing, raised, again=again)
            pause = _pause(error, attempt, again=again)
            if pause is None or pause > left:
                raise error from raised
            wait(pause)
            left -= pause
    return ask()


def _pause(error: GitHubError, attempt: int, *, again: bool) -> float | None:
    """Return the seconds until the next try; None if there is none."""
    if attempt == _TRIES - 1:
        return None
    if isinstance(error, RateLimited):
        return None if error.seconds is None else float(error.seconds)
    return 2.0**attempt if again and isinstance(error, GitHubUnavailable) else None


def _error_of(what: str, thing: str, raised: Exception, *, again: bool) -> GitHubError:
    from github import GithubException

    if isinstance(raised, GithubException):
        headers = {name.lower(): str(text) for name, text in (raised.headers or {}).items()}
        return rate_limit_error(what, raised.status, headers, raised.data) or refusal_error(
            what, thing, raised.status, headers, raised.data
        )
    # What `requests` raises is an OSError.
    if isinstance(raised, OSError):
        hint = (
            None
            if again
            else "It may have been carried out all the same: look before trying again."
        )
        name = type(raised).__name__
        return GitHubUnavailable(f"{what}: GitHub did not answer ({name}).", hint=hint)
    return StrangeAnswer(f"{what}: the answer is not GitHub's.")


def checked_token(token: str | None) -> str | None:
    """Return the token without a trailing line end.

    Raises TokenRefused for a text that cannot be a token; the error does not show it.
    """
    token = (token or "").strip()
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise TokenRefused(
            "GITHUB_TOKEN holds signs that no token has; it was not sent.",
            hint="Set it anew.",
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
    raise BadAddress(f"{address!r} is no https address of an API.")
