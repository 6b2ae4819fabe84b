"""Facts on providers that nobody has to ask for: the variables with their keys, the packages that
they need, batches, and prices by the list that comes with pydantic-ai.
"""

import os
from decimal import Decimal

from forge_bot.errors import NoModelKey
from forge_bot.remedies import Remedy
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


def has_key(spec: str) -> bool:
    """Return whether a model needs nothing but a key, and has it."""
    provider, _, model = spec.partition(":")
    return provider in _NEEDED and bool(model and os.environ.get(KEYS[provider]))


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
