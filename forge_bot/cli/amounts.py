"""Money and tokens as the terminal shows and reads them."""

import re

from forge_bot.errors import BadOption
from forge_bot.gate.arguments import Amount, read_amount
from forge_bot.sentences import say
from forge_bot.text_format import money
from forge_bot.values import Usage

_DOLLARS_LOST = re.compile(r"\+?(?:0*|\.\d+)")
"""What a shell makes of `+$5`, `$10` or `$5.50`."""


def tokens(usage: Usage) -> str:
    """Tokens in and out for people."""
    return f"{usage.tokens:,} tokens"


def paid(usage: Usage) -> str:
    """Tokens and money for people."""
    return f"{tokens(usage)}, {money(usage.cost)}"


def amount_of(text: str, example: str) -> Amount:
    """Read an amount of money or tokens as every face does. Raises BadOption."""
    if (amount := read_amount(text)) is not None:
        return amount
    hint = say("cli.amounts.write_an_amount", example=example, command=example.rpartition(" ")[0])
    if _DOLLARS_LOST.fullmatch(text.strip()):
        hint = say("cli.amounts.shell_took_it", example=example)
    raise BadOption(say("cli.amounts.no_amount", text=text), hint=hint)
