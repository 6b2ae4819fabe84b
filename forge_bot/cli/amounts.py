"""Money and tokens as the terminal shows and reads them."""

from forge_bot.errors import BadOption
from forge_bot.gate.arguments import Amount, read_amount
from forge_bot.sentences import say
from forge_bot.text_format import money
from forge_bot.values import Usage


def tokens(usage: Usage) -> str:
    """Tokens in and out for people."""
    return f"{usage.tokens:,} tokens"


def paid(usage: Usage) -> str:
    """Tokens and money for people."""
    return f"{tokens(usage)}, {money(usage.cost)}"


def limits(amount: Amount) -> str:
    """The most that an amount allows, for people."""
    dollars = money(amount.dollars) if amount.dollars is not None else ""
    most = f"{amount.tokens:,} tokens" if amount.tokens is not None else ""
    return " and ".join(filter(None, (dollars, most)))


def amount_of(text: str, example: str) -> Amount:
    """Read an amount of money or tokens as every face does. Raises BadOption."""
    amount = read_amount(text)
    if amount is None:
        raise BadOption(
            say("cli.amounts.no_amount", text=text),
            hint=(
                say(
                    "cli.amounts.write_an_amount",
                    example=example,
                    command=example.rpartition(" ")[0],
                )
            ),
        )
    return amount
