"""The usage of a reply: the provider's own counts if they are plausible, else our estimate."""

from decimal import Decimal
from typing import TYPE_CHECKING

from forge_bot.agent.models.base import BYTES_PER_TOKEN, ModelCall, prompt_tokens
from forge_bot.agent.prices import worst_case
from forge_bot.values import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

_MOST_TOKENS = 100_000_000
"""The maximum tokens of one call; no model reads or writes as many."""


def counted(name: str, call: ModelCall, text: str, response: "ModelResponse") -> Usage:
    """Return the usage of one reply.

    Missing, negative or implausible counts are replaced by a high estimate, so that a budget holds
    whatever a server reports.
    """
    counts = response.usage
    asked = (counts.input_tokens, counts.output_tokens)
    if counts.input_tokens > 0 and all(0 <= count <= _MOST_TOKENS for count in asked):
        cached = min(max(counts.cache_read_tokens, 0), counts.input_tokens)
        cost = _cost(response)
        usual = cost is None or cost >= 0
        return _usage(name, response, *asked, cached, cost if usual else worst_case(name, *asked))
    estimate = (
        prompt_tokens(call.messages),
        int(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) + 1,
    )
    return _usage(name, response, *estimate, 0, worst_case(name, *estimate))


def _usage(
    name: str, response: "ModelResponse", read: int, written: int, cached: int, cost: Decimal | None
) -> Usage:
    model = response.model_name or name
    return Usage(
        calls=1,
        input_tokens=read,
        cached_tokens=cached,
        output_tokens=written,
        cost=cost,
        model=model,
    )


def _cost(response: "ModelResponse") -> Decimal | None:
    try:
        return response.cost().total_price
    except (LookupError, ValueError):
        return None
