"""Estimate the length of a text in tokens before the provider has counted.

Four characters a token is the rule of thumb that providers publish for English and code. It is used
to choose what fits, never to compute a price.
"""

CHARACTERS_PER_TOKEN = 4


def estimate(characters: int) -> int:
    """Return the estimated tokens of this number of characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def characters(tokens: int) -> int:
    """Return the maximum number of characters that are estimated as this number of tokens."""
    return tokens * CHARACTERS_PER_TOKEN
