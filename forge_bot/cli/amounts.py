"""Money and tokens as the terminal shows them."""

from decimal import Decimal

from forge_bot.values import Usage


def money(cost: Decimal | None) -> str:
    """US dollars for people."""
    if cost is None:
        return "price unknown"
    return f"${cost:.2f}" if cost >= Decimal("0.01") or cost == 0 else f"${cost:.4f}"


def tokens(usage: Usage) -> str:
    """Tokens in and out for people."""
    return f"{usage.tokens:,} tokens"


def paid(usage: Usage) -> str:
    """Tokens and money for people."""
    return f"{tokens(usage)}, {money(usage.cost)}"
