"""How long a text is for a model: the one estimate used before the provider has counted.

Four characters a token is what providers publish as a rule of thumb for English and code. It is used to choose what fits,
never to compute a price.
"""

CHARACTERS_PER_TOKEN = 4


def estimate(characters: int) -> int:
    """Tokens that so many characters are likely to be, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def characters(tokens: int) -> int:
    """The most characters that are estimated as so many tokens."""
    return tokens * CHARACTERS_PER_TOKEN
