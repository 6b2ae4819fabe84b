"""The variables with the keys of providers, and what of them can be said before a library is
imported.
"""

import os

from forge_bot.errors import NoModelKey
from forge_bot.remedies import Remedy

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


def missing_key(spec: str, base_url: str = "") -> NoModelKey | None:
    """Return the error for a key that is not set; None where only the provider's library knows.
    The library takes more than a second to import.
    """
    provider, _, model = spec.partition(":")
    elsewhere = base_url or (provider != "anthropic" and "OPENAI_BASE_URL" in os.environ)
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
