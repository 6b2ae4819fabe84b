"""Turn failures of a provider into our errors, and read how long it asks to wait.

pydantic-ai classifies each provider's own errors, by their statuses and codes.
"""

import os
from errno import errorcode
from math import ceil, isfinite
from typing import cast

from forge_bot.agent.models.base import PossiblyCharged
from forge_bot.agent.models.known_providers import KEYS
from forge_bot.errors import (
    ContextTooLong,
    ForgeError,
    KeyRefused,
    ModelUnavailable,
    QuestionRejected,
    UnknownModel,
)
from forge_bot.remedies import ModelTrouble, Remedy
from forge_bot.text_format import several

_LONGEST_WAIT = 120.0
"""The maximum seconds that we wait at a provider's request.

Above it a person should retry later.
"""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_PASSING = frozenset({408, 409, 429})
_SERVERS_FAULT = 500
_SENTENCE = 300


def retry_delay(error: Exception, attempt: int) -> float | None:
    """Return the seconds before the next attempt after `attempt` failures; None if none would help.

    The provider's own statement takes precedence: its `retry-after`, and the header
    `x-should-retry` of OpenAI and Anthropic.
    """
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

    if not isinstance(error, ModelAPIError) or (error.retry_after or 0) > _LONGEST_WAIT:
        return None
    hint = error.provider_retry_hint if isinstance(error, ModelHTTPError) else None
    if hint is False or not (hint or _may_pass(error)):
        return None
    if error.retry_after is not None and error.retry_after > 0:
        return error.retry_after
    return min(_FIRST_PAUSE * 2.0 ** min(attempt - 1, 10), _LONGEST_PAUSE)


def _may_pass(error: Exception) -> bool:
    from pydantic_ai import exceptions as theirs

    if isinstance(error, theirs.ModelHTTPError):
        may_pass = error.status_code in _PASSING or error.status_code >= _SERVERS_FAULT
        return may_pass and not isinstance(error, theirs.ModelQuotaExceededError)
    passing = (
        theirs.ModelConnectionError,
        theirs.ModelRequestTimeout,
        theirs.ModelRateLimitError,
        theirs.ModelServerError,
        theirs.ModelUnavailableError,
    )
    return isinstance(error, passing)


def to_forge_error(name: str, error: Exception, seconds: float, attempts: int) -> ForgeError:
    """Return the error for a failed question to `name`, after `attempts` of `seconds` each.

    A question may be charged unless it was answered, or no connection was ever made.
    """
    from pydantic_ai import exceptions as theirs

    after = f"after {several(attempts, 'attempt')}"
    details, why = error_details(error), _sentence(error)
    match error:
        case theirs.ModelAuthenticationError():
            return key_refused(name, error)
        case theirs.ModelContextWindowExceededError():
            return ContextTooLong(
                f"The question is longer than {name} can read; a model with a larger window, or"
                " lower agent.prompt_tokens and agent.input_tokens in .forge/config.yml, would"
                " help.",
                details=details,
            )
        case theirs.ModelNotFoundError():
            return UnknownModel(f"The provider knows no model {name}.", details=details)
        case theirs.ModelQuotaExceededError():
            used_up = f"The account for {name} has used up its quota or credit."
            return ModelUnavailable(used_up, trouble=ModelTrouble("no-credit"), details=details)
        case theirs.ModelRateLimitError():
            return _explain_rate_limit(name, error.retry_after, after, details)
        case theirs.ModelConnectionError(phase="pool" | "connect"):
            none = f"No connection to {name} could be made, {after}: {_cause(error)}."
            return ModelUnavailable(none, details=details)
        case theirs.ModelRequestTimeout() | theirs.ModelTimeoutError():
            late = f"{name} did not answer within {seconds:g} seconds, {after}."
            return PossiblyCharged(late, details=details)
        case theirs.ModelConnectionError():
            lost = f"The connection to {name} failed, {after}: {_cause(error)}."
            return PossiblyCharged(lost, details=details)
        case theirs.ModelHTTPError() if not isinstance(error, theirs.ModelRequestRejectedError):
            why = _message(error) or f"it answers with status {error.status_code}"
            return ModelUnavailable(
                f"The provider of {name} failed, {after}: {why}", details=details
            )
        case theirs.AgentRunError() if not isinstance(error, theirs.ModelRequestRejectedError):
            return PossiblyCharged(violation(name), details=details)
        case _:
            return QuestionRejected(f"{name} does not take the question: {why}", details=details)


def violation(name: str) -> str:
    """Return the sentence about an answer that is not what the API promises."""
    return f"The provider's answer to {name} is not what its API promises."


def error_details(error: Exception) -> tuple[str, ...]:
    """Return the error's own messages, as details."""
    return (str(error)[:2_000],)


def key_refused(name: str, error: Exception) -> KeyRefused:
    """Return the error for a key that the provider of `name` does not accept."""
    variable = KEYS.get(name.removeprefix("gateway/").partition(":")[0], "")
    key = f"the key in {variable}" if variable else "the key"
    return KeyRefused(
        f"The provider of {name} does not accept {key}: {_sentence(error)}",
        remedy=Remedy("check-key", variable),
        details=error_details(error),
    )


def _explain_rate_limit(
    name: str, wait: float | None, after: str, details: tuple[str, ...]
) -> ModelUnavailable:
    """Return the error for a rate limit; it says when to come back if the provider asks for a
    longer wait than anybody should sit through.
    """
    if wait is None or wait <= _LONGEST_WAIT:
        return ModelUnavailable(
            f"The rate limit of {name} is reached, {after}.",
            trouble=ModelTrouble("rate-limited", model=name),
            details=details,
        )
    seconds = ceil(wait) if isfinite(wait) else None
    span = f"{ceil(seconds / 60):,} minutes" if seconds is not None else "ever"
    return ModelUnavailable(
        f"The rate limit of {name} is reached, and the provider asks to wait for {span}.",
        trouble=ModelTrouble("rate-limited", seconds, name),
        hint="Come back then.",
        remedy=Remedy("resume"),
        details=details,
    )


def _cause(error: BaseException) -> str:
    """Return the innermost reason that has words."""
    reason = str(error)
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
        number = error.errno if isinstance(error, OSError) else None
        words = os.strerror(number) if number is not None and number in errorcode else str(error)
        reason = words or reason
    return " ".join(reason.split())[:_SENTENCE].rstrip(".")


def _sentence(error: Exception) -> str:
    """Return the provider's own message if its error has one, else the library's."""
    return _message(error) or " ".join(str(error).split())[:_SENTENCE]


def _message(error: Exception) -> str:
    body = _fields(getattr(error, "body", None))
    message = (_fields(body.get("error")) or body).get("message")
    return " ".join(str(message or "").split())[:_SENTENCE]


def _fields(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
