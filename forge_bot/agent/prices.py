"""What a call can cost at most, from the price list that comes with pydantic-ai. Looked up offline."""

from decimal import Decimal

# Doors to one provider that the price list knows under one name.
_LISTED_AS = {"openai-chat": "openai", "openai-responses": "openai", "azure-responses": "azure", "google-cloud": "google"}
_FREE = ("scripted:", "replay:")


def worst_case(model: str, input_tokens: int, output_tokens: int) -> Decimal | None:
    """US dollars for a call of `provider:model` with this many tokens, or None if nobody knows. Records cost nothing.

    Every input token is priced as one that is also written into the provider's cache, which is the dearest way to send it.
    """
    if model.startswith(_FREE):
        return Decimal(0)
    from genai_prices import Usage, calc_price

    provider, _, name = model.removeprefix("gateway/").partition(":")
    usage = Usage(input_tokens=input_tokens, cache_write_tokens=input_tokens, output_tokens=output_tokens)
    try:
        return calc_price(usage, name, provider_id=_LISTED_AS.get(provider, provider)).total_price
    except (LookupError, ValueError):
        return None
