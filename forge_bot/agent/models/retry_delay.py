"""Whether a question that failed is put again, and after which wait. Nothing else repeats a question."""

_LONGEST_WAIT = 120.0
"""Seconds that are waited because a provider asks for it; after a longer wait a person is better asked to come back."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_TOO_EARLY = frozenset({408, 409, 429})
_SERVERS_FAULT = 500


def pause(error: Exception, attempt: int) -> float | None:
    """Seconds to wait before the next attempt after `attempt` failed ones; None if another would not help.

    What the provider says of itself goes first: its `retry-after`, and the header `x-should-retry` of OpenAI and Anthropic.
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
    """Whether a provider asks for a longer wait than anybody should sit through."""
    return wait is not None and wait > _LONGEST_WAIT


def _passing(error: Exception) -> bool:
    """Whether this can be over in a moment: a lost connection, a server's own fault, too many questions."""
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
