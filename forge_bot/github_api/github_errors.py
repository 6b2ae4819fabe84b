"""Turn GitHub's refusals into errors that name the failed step, the reason and the remedy."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from forge_bot.errors import (
    ConversationLocked,
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
from forge_bot.gate.json_payload import Node

Headers = Mapping[str, str]
_LIMITED = frozenset({403, 429})
# GitHub asks for a minute if it names no time (REST, best practices: secondary rate limits).
_UNNAMED = 60


def rate_limit_error(what: str, status: int, headers: Headers, data: object) -> RateLimited | None:
    """Return the error for an exhausted limit, with the seconds until it ends.

    Return None for any other response.
    """
    message = Node(data).text("message").lower()
    is_empty, wait = headers.get("x-ratelimit-remaining") == "0", headers.get("retry-after", "")
    if status not in _LIMITED or not (is_empty or wait or "rate limit" in message):
        return None
    if wait.isdecimal():
        sentence = f"{what}: the rate limit is used up for {wait} seconds."
        return RateLimited(sentence, seconds=int(wait))
    if not is_empty:
        sentence = f"{what}: the rate limit is used up for a while."
        return RateLimited(sentence, seconds=_UNNAMED)
    reset = headers.get("x-ratelimit-reset", "")
    if not re.fullmatch("[0-9]{1,11}", reset):
        return RateLimited(f"{what}: the rate limit is used up.")
    until = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(reset))
    return RateLimited(
        f"{what}: the rate limit is used up until {until:%Y-%m-%d %H:%M} UTC.",
        seconds=_seconds_until(until, headers),
        hint="Set GITHUB_TOKEN for a higher limit, or wait until then.",
    )


def _seconds_until(until: datetime, headers: Headers) -> int | None:
    """Return the seconds by GitHub's own clock, from the same response: the clock of this machine
    may be wrong.
    """
    try:
        now = parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        return None
    return max(int((until - now).total_seconds()), 0) + 1


def refusal_error(
    what: str, thing: str, status: int, headers: Headers, data: object
) -> GitHubError:
    """Return the error for a refused request: `what` could not be done with `thing`."""
    answer = Node(data)
    message = answer.text("message")
    match status:
        case 401:
            return TokenRefused(f"{what}: the token is not accepted.")
        case 403:
            return _forbidden(what, message, headers)
        case 404:
            return NotOnGitHub(f"{what}: there is no such {thing}, or the token may not see it.")
        case 410:
            return NotOnGitHub(f"{what}: the {thing} was deleted, or issues are turned off there.")
        case 301 | 302 | 307 | 308:
            to = headers.get("location", "") or "another address"
            return MovedElsewhere(f"{what}: the {thing} has moved to {to}.", to=to)
        case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return GitHubUnavailable(f"{what}: GitHub answered {status}.")
        case 400 | 405 | 409 | 422:
            return _not_taken(what, answer, status)
        case _:
            return StrangeAnswer(f"{what}: GitHub answered {status}.")


def _not_taken(what: str, answer: Node, status: int) -> GitHubRefused:
    """Return the error for what GitHub does not take. A query of GraphQL has its own errors."""
    if any(each.text("type") == "FORBIDDEN" for each in answer.items("errors")):
        message = next(answer.items("errors")).text("message")
        raise PermissionMissing(f"{what}: access is forbidden (GitHub says: {message}).")
    wrong = tuple(map(_field, answer.items("errors"))) or tuple(
        filter(None, [answer.text("errors")])
    )
    usual = answer.text("message") or f"it answered {status}"
    why = "; ".join(wrong) or usual
    return GitHubRefused(
        "{what}: GitHub does not take it: {why}.".format(what=what, why=why.rstrip(".")),
        details=wrong,
        exists_already="already exists" in why,
    )


def _field(wrong: Node) -> str:
    """Return the problem of one field of a 422 response; some operations send only sentences."""
    if isinstance(wrong.value, str):
        return wrong.value
    code = wrong.text("code").replace("_", " ")
    return wrong.text("message") or f"{wrong.text('field') or 'something'} is {code}"


def _forbidden(what: str, message: str, headers: Headers) -> GitHubError:
    if "locked" in message.lower():
        return ConversationLocked(f"{what}: the conversation is locked.")
    if "not permitted to create or approve pull requests" in message:
        return PermissionMissing(
            f"{what}: this repository does not let GitHub Actions open pull requests.",
            hint=(
                "Settings → Actions → General → Allow GitHub Actions to create and approve "
                "pull requests."
            ),
        )
    hint = (
        "Unarchive the repository in its settings; everything so far is on the run's branch."
        if "archived" in message.lower()
        else None
    )
    # Every response has this header. It is the reason only if GitHub says that the token cannot
    # access the resource.
    named = (
        headers.get("x-accepted-github-permissions", "")
        if message.startswith("Resource not accessible")
        else ""
    )
    needed = named.replace("=", ": ").replace("; ", " or ").replace(",", " and ")
    needs = f"; it needs the permission {needed}" if needed else ""
    words = message.rstrip(".")
    quoted = f" (GitHub says: {words})" if message else ""
    return PermissionMissing(
        f"{what}: access is forbidden{needs}{quoted}.",
        hint=hint,
        details=(needed,) if needed else (),
    )
