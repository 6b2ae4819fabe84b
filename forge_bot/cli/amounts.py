"""Money and tokens as the terminal shows and reads them."""

import re

from forge_bot.errors import BadOption
from forge_bot.gate.arguments import Amount, read_amount
from forge_bot.text_format import money
from forge_bot.values import Usage

_DOLLARS_LOST = re.compile(r"\+?(?:0*|\.\d+)")
"""What a shell makes of `+$5`, `$10` or `$5.50`."""


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
        "Write US dollars, above 0 and below 10,000: {example}. Or tokens, from 1,000 on: "
        "{command} 200000tokens"
    ).format(example=example, command=example.rpartition(" ")[0])
    if _DOLLARS_LOST.fullmatch(text.strip()):
        hint = (
            "A shell takes $5 for a variable and passes on what is left. Write it without the "
            f"dollar sign: {example}"
        )
    raise BadOption(f"{text!r} is no amount of money or tokens.", hint=hint)
