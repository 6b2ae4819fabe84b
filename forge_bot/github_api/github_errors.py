"""Turn GitHub's refusals into errors that name the failed step, the reason and the remedy."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from pydantic import Field, ValidationError

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
from forge_bot.github_api.types import FromGitHub
from forge_bot.sentences import say

Headers = Mapping[str, str]
_LIMITED = frozenset({403, 429})
# GitHub asks for a minute if it names no time (REST, best practices: secondary rate limits).
_UNNAMED = 60


class _Wrong(FromGitHub):
    """One field of a 422 response; some operations send only sentences."""

    field: str | None = None
    code: str = ""
    message: str | None = None

    def __str__(self) -> str:
        return self.message or f"{self.field or 'something'} is {self.code.replace('_', ' ')}"

    @property
    def exists_already(self) -> bool:
        """Return whether the object is there; of a pull request GitHub says so in words alone."""
        return self.code == "already_exists" or "already exists" in (self.message or "")


class _Said(FromGitHub):
    message: str = ""
    errors: list[_Wrong | str] | str | None = Field(default=None)


def _read(text: str) -> tuple[str, list[_Wrong | str]]:
    """Return GitHub's message and its details about single fields.

    Both are empty if the body is not GitHub's.
    """
    try:
        body = _Said.model_validate(json.loads(text))
    except (ValueError, ValidationError):
        return "", []
    return body.message, [body.errors] if isinstance(body.errors, str) else body.errors or []


def rate_limit_error(what: str, status: int, headers: Headers, text: str) -> RateLimited | None:
    """Return the error for an exhausted limit, with the seconds until it ends.

    Return None for any other response.
    """
    message = _read(text)[0].lower()
    if status not in _LIMITED or not (
        _empty(headers) or "retry-after" in headers or "rate limit" in message or "abuse" in message
    ):
        return None
    wait = headers.get("retry-after", "")
    if re.fullmatch("[0-9]{1,6}", wait):
        return RateLimited(
            say("github.github_errors.rate_limited_for_seconds", what=what, wait=wait),
            seconds=int(wait),
        )
    if not _empty(headers):
        return RateLimited(
            say("github.github_errors.rate_limited_for_a_while", what=what), seconds=_UNNAMED
        )
    reset = headers.get("x-ratelimit-reset", "")
    if not re.fullmatch("[0-9]{1,11}", reset):
        return RateLimited(say("github.github_errors.rate_limited", what=what))
    until = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(reset))
    seconds = _seconds_until(until, headers)
    return RateLimited(
        say("github.github_errors.rate_limited_until", what=what, until=until),
        seconds=seconds,
        hint=say("github.github_errors.set_a_token_or_wait"),
    )


def _empty(headers: Headers) -> bool:
    return headers.get("x-ratelimit-remaining") == "0"


def _seconds_until(until: datetime, headers: Headers) -> int | None:
    """Return the seconds by GitHub's own clock, from the same response: the clock of this machine
    may be wrong.
    """
    try:
        now = parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        return None
    return max(int((until - now).total_seconds()), 0) + 1


def refusal_error(what: str, thing: str, status: int, headers: Headers, text: str) -> GitHubError:
    """Return the error for a refused request: `what` could not be done with `thing`."""
    message, wrong = _read(text)
    quoted = f" {say('github.github_errors.github_says', message=message)}" if message else ""
    match status:
        case 401:
            return TokenRefused(say("github.github_errors.token_not_accepted", what=what))
        case 403:
            return _forbidden(what, message, headers)
        case 404:
            return NotOnGitHub(say("github.github_errors.not_found", what=what, thing=thing))
        case 410:
            return NotOnGitHub(say("github.github_errors.gone", what=what, thing=thing))
        case 301 | 302 | 307 | 308:
            return _moved(what, thing, headers.get("location", ""))
        case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return GitHubUnavailable(
                say("github.github_errors.unexpected_status", what=what, status=status)
            )
        case 400 | 405 | 409 | 422:
            answered = say("github.github_errors.it_answered", status=status)
            return _not_taken(what, message or answered, wrong)
        case _:
            return StrangeAnswer(
                say(
                    "github.github_errors.unexpected_answer",
                    what=what,
                    status=status,
                    quoted=quoted,
                )
            )


def _moved(what: str, thing: str, to: str) -> MovedElsewhere:
    address = to or say("github.github_errors.another_address")
    return MovedElsewhere(
        say("github.github_errors.moved", what=what, thing=thing, to=address), to=to
    )


def _not_taken(what: str, message: str, wrong: Sequence[_Wrong | str]) -> GitHubRefused:
    why = "; ".join(map(str, wrong)) or message
    return GitHubRefused(
        say("github.github_errors.not_taken", what=what, why=why.rstrip(".")),
        details=tuple(map(str, wrong)),
        exists_already=any(isinstance(each, _Wrong) and each.exists_already for each in wrong),
    )


def _forbidden(what: str, message: str, headers: Headers) -> GitHubError:
    if "locked" in message.lower():
        return ConversationLocked(say("github.github_errors.locked", what=what))
    if "not permitted to create or approve pull requests" in message:
        hint = say("github.github_errors.allow_pull_requests")
        return PermissionMissing(
            say("github.github_errors.actions_may_not_open_pull_requests", what=what), hint=hint
        )
    hint = say("github.github_errors.unarchive") if "archived" in message.lower() else None
    # Every response has this header. It is the reason only if GitHub says that the token cannot
    # access the resource.
    named = (
        headers.get("x-accepted-github-permissions", "")
        if message.startswith("Resource not accessible")
        else ""
    )
    needed = named.replace("=", ": ").replace("; ", " or ").replace(",", " and ")
    needs = f"; {say('github.github_errors.needs_the_permission', needed=needed)}" if needed else ""
    said = message.rstrip(".")
    quoted = f" {say('github.github_errors.github_says', message=said)}" if message else ""
    return PermissionMissing(
        say("github.github_errors.forbidden", what=what, needs=needs, quoted=quoted),
        hint=hint,
        details=(needed,) if needed else (),
    )
