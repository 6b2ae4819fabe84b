"""Values that commands and flags take, on every face: amounts, digests, efforts. Standard
library only.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Size = Literal["S", "M", "L"]

SHORTEST_DIGEST = 7
"""Characters of a digest that are enough to name a version."""

SHOWN_DIGEST = 12
"""Characters of a digest that a person is shown."""

SIZES: dict[str, Size] = {"s": "S", "m": "M", "l": "L"}

LEAST_TOKENS = 1_000
MOST_TOKENS = 10_000_000_000

AMOUNTS = "gate.arguments.amounts"
"""The name of the words for the amounts that a budget can have."""

_DIGEST = re.compile(rf"`?([0-9a-fA-F]{{{SHORTEST_DIGEST},64}})`?")
_DOLLARS = re.compile(r"\+?\s?\$?\s?([0-9]{1,4}(?:\.[0-9]{1,2})?)\s?(?:\$|usd)?", re.IGNORECASE)
_TOKENS = re.compile(
    r"\+?\s?([0-9][0-9,_]*|[0-9]+\.[0-9]+(?=\s?[km]))\s?([km]?)\s?tok(?:ens?)?", re.IGNORECASE
)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount that a run may spend, in US dollars, tokens or both. None is no limit."""

    dollars: Decimal | None = None
    tokens: int | None = None

    def __bool__(self) -> bool:
        """Return whether there is a limit."""
        return self.dollars is not None or self.tokens is not None


NO_LIMIT = Amount()


def read_amount(text: str) -> Amount | None:
    """Read `5`, `$5`, `+$5`, `+5.50` or `5 USD`; or `20000 tokens`, `20k tokens`. Return None for
    any other text, and for an amount that no budget can have.
    """
    if match := _DOLLARS.fullmatch(text.strip()):
        return Amount(dollars=Decimal(match[1])) if Decimal(match[1]) > 0 else None
    if match := _TOKENS.fullmatch(text.strip()):
        number = Decimal(re.sub("[,_]", "", match[1])) * _TIMES[match[2].lower()]
        return Amount(tokens=int(number)) if LEAST_TOKENS <= number <= MOST_TOKENS else None
    return None


def read_digest(text: str) -> str | None:
    """Read a digest or its beginning, in lower case; None where it is none or too short."""
    match = _DIGEST.fullmatch(text)
    return match[1].lower() if match is not None else None


def names_version(given: str, digest: str) -> bool:
    """Return whether `given` is the digest or a beginning of it that is long enough."""
    return len(given) >= SHORTEST_DIGEST and digest.startswith(given.lower())
