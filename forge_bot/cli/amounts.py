"""Money and tokens as the terminal shows and reads them."""

from forge_bot.errors import BadOption
from forge_bot.gate.arguments import Amount, read_amount
from forge_bot.text_format import money
from forge_bot.values import Usage


def format_tokens(usage: Usage) -> str:
    """Tokens in and out for people."""
    return f"{usage.tokens:,} tokens"


def describe_cost(usage: Usage) -> str:
    """Tokens and money for people."""
    return f"{format_tokens(usage)}, {money(usage.cost)}"


def read_amount_option(text: str, example: str) -> Amount:
    """Read an amount of money or tokens as every face does. Raises BadOption."""
    if (amount := read_amount(text)) is not None:
        return amount
    hint = (
        f"Write US dollars without a sign, above 0 and below 10,000: {example}. Or tokens, from"
        f" 1,000 on: {example.rpartition(' ')[0]} 200000tokens"
    )
    raise BadOption(f"{text!r} is no amount of money or tokens.", hint=hint)
