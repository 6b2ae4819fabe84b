"""Turn failures of a provider into our errors, and read how long it asks to wait.

pydantic-ai classifies each provider's own errors.
"""

import os
from errno import errorcode
from math import ceil, isfinite
from typing import cast

from forge_bot.agent.models.base import PossiblyCharged
from forge_bot.agent.models.provider_keys import KEYS
from forge_bot.errors import (
    ContextTooLong,
    ForgeError,
    KeyRefused,
    ModelUnavailable,
    QuestionRejected,
    UnknownModel,
)
from forge_bot.remedies import CheckKey, ModelTrouble, Resume
from forge_bot.sentences import say

_LONGEST_WAIT = 120.0
"""The maximum seconds that we wait at a provider's request.

Above it a person should retry later.
"""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_TOO_EARLY = frozenset({408, 409, 429})
_SERVERS_FAULT = 500


def retry_delay(error: Exception, attempt: int) -> float | None:
    """Return the seconds before the next attempt after `attempt` failures; None if none would help.

    The provider's own statement takes precedence: its `retry-after`, and the header
    `x-should-retry` of OpenAI and Anthropic.
    """
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

    if not isinstance(error, ModelAPIError) or too_long(error.retry_after):
        return None
    hint = error.provider_retry_hint if isinstance(error, ModelHTTPError) else None
    if hint is False or not (hint or _passing(error)):
        return None
    if error.retry_after is not None and error.retry_after > 0:
        return error.retry_after
    return min(_FIRST_PAUSE * 2.0 ** min(attempt - 1, 10), _LONGEST_PAUSE)


def too_long(wait: float | None) -> bool:
    """Return whether a provider asks for a longer wait than a person accepts."""
    return wait is not None and wait > _LONGEST_WAIT


def _passing(error: Exception) -> bool:
    """Return whether the failure may be temporary.

    That is a lost connection, a server error, or too many requests.
    """
    from pydantic_ai import exceptions as theirs

    if isinstance(error, theirs.ModelQuotaExceededError):
        return False
    if isinstance(error, theirs.ModelHTTPError):
        return error.status_code in _TOO_EARLY or error.status_code >= _SERVERS_FAULT
    return isinstance(
        error,
        theirs.ModelConnectionError
        | theirs.ModelRequestTimeout
        | theirs.ModelRateLimitError
        | theirs.ModelServerError
        | theirs.ModelUnavailableError,
    )


_SENTENCE = 300
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_FEW = 2


def to_forge_error(name: str, error: Exception, seconds: float, attempts: int) -> ForgeError:
    """Return the error for a failed question to `name`, after `attempts` of `seconds` each."""
    from pydantic_ai import exceptions as theirs

    times = "one attempt" if attempts == 1 else f"{attempts} attempts"
    match error:
        case theirs.ModelAuthenticationError():
            return key_refused(name, error)
        case theirs.ModelRateLimitError():
            return _limited(name, error, error.retry_after, times)
        case (
            theirs.ModelTimeoutError()
            | theirs.ModelRequestTimeout()
            | theirs.ModelConnectionError()
        ):
            return _not_reached(name, error, seconds, times)
        case _:
            return _answered(name, error, times)


def _answered(name: str, error: Exception, times: str) -> ForgeError:
    """Return the error for an answer that says that the question was not taken, or says nothing."""
    from pydantic_ai import exceptions as theirs

    details = error_details(error)
    match error:
        case theirs.ModelContextWindowExceededError():
            said = say("agent.provider_errors.question_too_long", name=name)
            return ContextTooLong(said, details=details)
        case theirs.ModelNotFoundError():
            near = suggest_models(name)
            said = say(
                "agent.provider_errors.provider_knows_no_model", name=name, suggest_models=near
            )
            return UnknownModel(said, details=details)
        case theirs.ModelQuotaExceededError():
            said = say("agent.provider_errors.account_for_has_used_up_its_quota", name=name)
            return ModelUnavailable(said, trouble=ModelTrouble("no-credit"), details=details)
        case theirs.ModelRequestRejectedError():
            why = _sentence(error)
            said = say(
                "agent.provider_errors.provider_of_rejects_question", name=name, sentence=why
            )
            return QuestionRejected(said, details=details)
        case theirs.ModelHTTPError():
            why = _message(error) or f"it answers with status {error.status_code}"
            said = say("agent.provider_errors.provider_of_failed", name=name, times=times, why=why)
            return ModelUnavailable(said, details=details)
        case theirs.AgentRunError():
            said = say("agent.provider.answer_violates_the_api", name=name)
            return PossiblyCharged(said, details=details)
        case _:
            why = _sentence(error)
            said = say("agent.provider_errors.cannot_be_asked_this_way", name=name, sentence=why)
            return QuestionRejected(said, details=details)


def of_credentials(name: str, error: Exception) -> ForgeError | None:
    """Return the error for an exception of Google's or Amazon's libraries for credentials, which
    pydantic-ai passes on; None for any other exception.
    """
    kind = type(error)
    if not kind.__module__.startswith(("google.auth.", "botocore.")):
        return None
    if "Transport" in kind.__name__ or "Connect" in kind.__name__:
        return ModelUnavailable(
            say(
                "agent.provider_errors.credentials_not_fetched",
                name=name,
                sentence=_sentence(error),
            ),
            details=error_details(error),
        )
    return KeyRefused(
        say("agent.provider_errors.credentials_unusable", name=name, sentence=_sentence(error)),
        hint=say("agent.provider_errors.set_up_credentials"),
        details=error_details(error),
    )


def suggest_models(spec: str) -> str:
    """Return a sentence with similar model names, or an empty text."""
    from difflib import get_close_matches

    from pydantic_ai.models import known_model_names

    names = known_model_names()
    known = [name for name in names if name != spec and not name.startswith("gateway/")]
    near = get_close_matches(spec, known, n=3, cutoff=0.6)
    return f" Names that come near: {', '.join(near)}." if near else ""


def error_details(error: Exception) -> tuple[str, ...]:
    """Return the error's own messages, as details."""
    return (str(error)[:2_000],)


def key_refused(name: str, error: Exception) -> KeyRefused:
    """Return the error for a key that the provider of `name` does not accept."""
    variable = KEYS.get(name.removeprefix("gateway/").partition(":")[0])
    key = f"the key in {variable}" if variable else "the key"
    remedy = CheckKey(variable or "")
    return KeyRefused(
        say(
            "agent.provider_errors.key_not_accepted", name=name, key=key, sentence=_sentence(error)
        ),
        remedy=remedy,
        details=error_details(error),
    )


def _not_reached(name: str, error: Exception, seconds: float, times: str) -> ModelUnavailable:
    """Return the error for a missing answer.

    The answer may be charged unless no connection was ever made.
    """
    from pydantic_ai import exceptions as theirs

    phase = error.phase if isinstance(error, theirs.ModelConnectionError) else None
    if phase in {"pool", "connect"}:
        return ModelUnavailable(
            say("agent.provider_errors.no_connection", name=name, times=times, cause=_cause(error)),
            details=error_details(error),
        )
    if isinstance(error, theirs.ModelTimeoutError | theirs.ModelRequestTimeout):
        return PossiblyCharged(
            say("agent.provider_errors.no_answer_in_time", name=name, seconds=seconds, times=times),
            details=error_details(error),
        )
    return PossiblyCharged(
        say("agent.provider_errors.connection_failed", name=name, times=times, cause=_cause(error)),
        details=error_details(error),
    )


def _limited(name: str, error: Exception, wait: float | None, times: str) -> ModelUnavailable:
    """The error for a rate limit; it says when to come back if the provider asks for a longer wait
    than anybody should sit through.
    """
    if wait is None or not too_long(wait):
        return ModelUnavailable(
            say("agent.provider_errors.rate_limited", name=name, times=times),
            trouble=ModelTrouble("rate-limited"),
            details=error_details(error),
        )
    seconds = ceil(wait) if isfinite(wait) else None
    return ModelUnavailable(
        say("agent.provider_errors.rate_limited_for", name=name, span=_span(wait)),
        trouble=ModelTrouble("rate-limited", seconds),
        hint=say("agent.provider_errors.come_back_then"),
        remedy=Resume(),
        details=error_details(error),
    )


def _span(seconds: float) -> str:
    """Return a wait in its largest precise enough unit, rounded up."""
    if not isfinite(seconds):
        return "ever"
    unit, name = next(
        (each for each in ((_DAY, "days"), (_HOUR, "hours")) if seconds > _FEW * each[0]),
        (_MINUTE, "minutes"),
    )
    return f"{ceil(seconds / unit):,} {name}"


def _cause(error: BaseException) -> str:
    """Return the innermost informative reason."""
    found, seen = str(error), {id(error)}
    while (inner := error.__cause__ or error.__context__) is not None and id(inner) not in seen:
        seen.add(id(inner))
        error = inner
        found = _words(error) or found
    return " ".join(found.split())[:_SENTENCE].rstrip(".")


def _words(error: BaseException) -> str:
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number) if number is not None and number in errorcode else str(error)


def _sentence(error: Exception) -> str:
    """Return the provider's own message if its error has one, else the library's."""
    return _message(error) or " ".join(str(error).split())[:_SENTENCE]


def _message(error: Exception) -> str:
    body = _fields(getattr(error, "body", None))
    message = (_fields(body.get("error")) or body).get("message")
    return " ".join(str(message or "").split())[:_SENTENCE]


def _fields(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
