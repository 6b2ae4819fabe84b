"""Secrets of this process, struck out of text before it is sent or kept."""

import re
from collections.abc import Callable, Mapping

_SECRET_NAME = re.compile(
    r"TOKEN(?!S|IZ)|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE|SIGNING)_?KEY|(?:^|_)(?:KEY|AUTH|PAT|PWD)(?:_|$)",
    re.IGNORECASE,
)
# Names that only say where a secret lies.
_PLACE_NAME = re.compile(r"_(?:FILE|PATH|DIR|SOCK|URL|HOST|NAME|ID)$|^(?:OLD)?PWD$", re.IGNORECASE)
# Shorter values would strike out ordinary words.
_SHORTEST = 8

Strike = Callable[[str], str]


def secrets_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names look like a key's or token's, by name."""
    return {
        name: value
        for name, value in environ.items()
        if len(value) >= _SHORTEST and _SECRET_NAME.search(name) and not _PLACE_NAME.search(name)
    }


def striking(environ: Mapping[str, str]) -> Strike:
    """A function that replaces every value of a variable whose name looks like a key's or token's with `[NAME]`."""
    found = {value: name for name, value in secrets_of(environ).items()}
    # The longest first: one secret may begin with another.
    ordered = sorted(found, key=len, reverse=True)

    def strike(text: str) -> str:
        for value in ordered:
            text = text.replace(value, f"[{found[value]}]")
        return text

    return strike
