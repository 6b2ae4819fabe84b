"""Facts on providers that nobody has to ask for: the variables with their keys, the packages that
they need, batches, and prices by the list that comes with pydantic-ai; and their failures as our
errors, with how long they ask to wait. pydantic-ai classifies each provider's own errors.
"""

import os
from decimal import Decimal
from errno import errorcode
from math import ceil, isfinite
from typing import cast

from forge_bot.agent.models.base import PossiblyCharged
from forge_bot.errors import (
    ContextTooLong,
    ForgeError,
    KeyRefused,
    ModelUnavailable,
    NoModelKey,
    QuestionRejected,
    UnknownModel,
)
from forge_bot.remedies import ModelTrouble, Remedy
from forge_bot.text_format import several
from forge_bot.values import Usage

KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "cohere": "CO_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "google": "GOOGLE_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openai-chat": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
}
"""The variable with the key of each provider."""

EXTRAS = frozenset({"google", "bedrock", "mistral", "groq"})
"""The providers whose packages are optional dependencies, as in pyproject.toml."""


def key_name(model: str) -> str:
    """The variable that a provider's key is in, as providers name it: `openai-chat:x` has
    OPENAI_API_KEY.
    """
    provider = model.partition(":")[0].partition("-")[0]
    return f"{provider.upper() or 'ANTHROPIC'}_API_KEY"


def extra_of(model: str) -> str:
    """The extra that a model's provider needs; empty where its package is included."""
    provider = model.partition(":")[0].partition("-")[0]
    return provider if provider in EXTRAS else ""


_NEEDED = frozenset({"anthropic", "openai", "openai-chat", "openai-responses"})
"""The providers that are always installed and that take nothing else for a key."""


def missing_key(spec: str) -> NoModelKey | None:
    """Return the error for a key that is not set; None where only the provider's library knows.
    The library takes more than a second to import.
    """
    provider, _, model = spec.partition(":")
    elsewhere = provider != "anthropic" and "OPENAI_BASE_URL" in os.environ
    if provider not in _NEEDED or not model or elsewhere or os.environ.get(KEYS[provider]):
        return None
    return needs_key(spec, KEYS[provider])


def needs_key(spec: str, variable: str) -> NoModelKey:
    words = f"{spec} needs a key, and {variable} is not set."
    return NoModelKey(words, remedy=Remedy("set-key", variable))


# Names of one provider that the price list has under one name.
_LISTED_AS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "azure-responses": "azure",
    "google-cloud": "google",
}
_FREE = ("scripted:", "replay:")

_WITH_BATCHES = ("anthropic", "openai", "openai-responses")

BATCH_PRICE = Decimal("0.5")
"""The part of the usual price that providers take for a question in a batch."""


def offers_batches(model: str) -> bool:
    return model.removeprefix("gateway/").partition(":")[0] in _WITH_BATCHES


def worst_case(model: str, input_tokens: int, output_tokens: int) -> Decimal | None:
    """Return the maximum US dollars of a call of `provider:model`, or None without a known price.

    Records cost nothing. Every input token is priced as one that is also written to the provider's
    cache, which is the most expensive way to send it.
    """
    return _total(
        model,
        input_tokens=input_tokens,
        cache_write_tokens=input_tokens,
        output_tokens=output_tokens,
    )


def usual_price(model: str, usage: Usage) -> Decimal | None:
    """Return the US dollars for such calls to `provider:model`, or None without a known price.

    Records cost nothing.
    """
    return _total(
        model,
        input_tokens=usage.input_tokens,
        cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
        output_tokens=usage.output_tokens,
    )


def _total(model: str, **tokens: int) -> Decimal | None:
    if model.startswith(_FREE):
        return Decimal(0)
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    provider, _, name = model.removeprefix("gateway/").partition(":")
    listed_as = _LISTED_AS.get(provider, provider)
    try:
        return calc_price(Priced(**tokens), name, provider_id=listed_as).total_price
    except (LookupError, ValueError):
        return None


_LONGEST_WAIT = 120.0
"""The most seconds that we wait for a provider; for longer a person should retry later."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_PASSING = frozenset({408, 409, 429})
_SERVERS_FAULT = 500
_SENTENCE = 300
_TOO_LONG = (
    "The question is longer than {name} can read; a model with a larger window, or lower"
    " agent.prompt_tokens and agent.input_tokens in .forge/config.yml, would help."
)


def retry_delay(error: Exception, attempt: int) -> float | None:
    """Return the seconds before the next attempt after `attempt` failures; None if none would help.

    The provider's own statement takes precedence: its `retry-after`, and the header
    `x-should-retry` of OpenAI and Anthropic.
    """
    from pydantic_ai.exceptions import ModelAPIError

    if not isinstance(error, ModelAPIError) or (error.retry_after or 0) > _LONGEST_WAIT:
        return None
    hint: bool | None = getattr(error, "provider_retry_hint", None)
    if hint is False or not (hint or _may_pass(error)):
        return None
    own = min(_FIRST_PAUSE * 2.0 ** min(attempt - 1, 10), _LONGEST_PAUSE)
    return error.retry_after if error.retry_after and error.retry_after > 0 else own


def _may_pass(error: Exception) -> bool:
    from pydantic_ai import exceptions as theirs

    if isinstance(error, theirs.ModelHTTPError):
        passing = error.status_code in _PASSING or error.status_code >= _SERVERS_FAULT
        return passing and not isinstance(error, theirs.ModelQuotaExceededError)
    kinds = (theirs.ModelConnectionError, theirs.ModelRequestTimeout, theirs.ModelRateLimitError)
    return isinstance(error, (*kinds, theirs.ModelServerError, theirs.ModelUnavailableError))


def to_forge_error(name: str, error: Exception, seconds: float, attempts: int) -> ForgeError:
    """Return the error for a failed question to `name`, after `attempts` of `seconds` each.

    A question may be charged unless it was answered, or no connection was ever made.
    """
    from pydantic_ai import exceptions as theirs

    after, details = f"after {several(attempts, 'attempt')}", error_details(error)
    match error:
        case theirs.ModelAuthenticationError():
            return key_refused(name, error)
        case theirs.ModelContextWindowExceededError():
            return ContextTooLong(_TOO_LONG.format(name=name), details=details)
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
            failed = f"The provider of {name} failed, {after}: {why}"
            return ModelUnavailable(failed, details=details)
        case theirs.AgentRunError() if not isinstance(error, theirs.ModelRequestRejectedError):
            return PossiblyCharged(violation(name), details=details)
        case _:
            rejected = f"{name} does not take the question: {_sentence(error)}"
            return QuestionRejected(rejected, details=details)


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
