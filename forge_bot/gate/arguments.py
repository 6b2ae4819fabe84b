"""Values that commands and flags take, on every face: amounts of money, digests, efforts. Standard
library only.
"""

import re
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge_bot.gate.command_types import Size

SHORTEST_DIGEST = 7
"""Characters of a digest that are enough to name a version."""

SHOWN_DIGEST = 12
"""Characters of a digest that a person is shown."""

SIZES: "dict[str, Size]" = {"s": "S", "m": "M", "l": "L"}

DOLLARS_ONLY = "a budget counts US dollars, and tokens have different prices"
"""What is wrong with an amount of tokens."""

_DIGEST = re.compile(rf"`?([0-9a-fA-F]{{{SHORTEST_DIGEST},64}})`?")
_DOLLARS = re.compile(r"\+?\s?\$?\s?([0-9]{1,4}(?:\.[0-9]{1,2})?)\s?(?:\$|usd)?", re.IGNORECASE)
_TOKENS = re.compile(r"\+?\s?[0-9][0-9,._]*\s?[km]?\s?(?:tokens?|tok)", re.IGNORECASE)


def read_dollars(text: str) -> Decimal | None:
    """Read `5`, `$5`, `+$5`, `+5.50` or `5 USD`: an amount above 0 and below 10,000. None for
    anything else.
    """
    match = _DOLLARS.fullmatch(text.strip())
    return Decimal(match[1]) if match is not None and Decimal(match[1]) > 0 else None


def is_tokens(text: str) -> bool:
    """Return whether the text is an amount of tokens, such as `20000 tokens`."""
    return _TOKENS.fullmatch(text.strip()) is not None


def read_digest(text: str) -> str | None:
    """Read a digest or its beginning, in lower case; None where it is none or too short."""
    match = _DIGEST.fullmatch(text)
    return match[1].lower() if match is not None else None


def names_version(given: str, digest: str) -> bool:
    """Return whether `given` is the digest or a beginning of it that is long enough."""
    return len(given) >= SHORTEST_DIGEST and digest.startswith(given.lower())
