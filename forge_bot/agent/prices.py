"""The cost of calls by the price list that comes with pydantic-ai. It is read offline."""

from decimal import Decimal

from forge_bot.values import Usage

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
