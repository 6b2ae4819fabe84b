"""Decide whether a failed question is repeated, and after which wait.

No other code repeats a question.
"""

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
