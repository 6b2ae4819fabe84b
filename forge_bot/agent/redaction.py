"""Redact the secrets of this process in text before it is sent or kept."""

import base64
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote, quote_plus, urlsplit

_SECRET_NAME = re.compile(
    r"TOKEN(?!S|IZ)|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|"
    r"(?:API|ACCESS|PRIVATE|SIGNING)_?KEY|(?:^|_)(?:KEY|AUTH|PAT|PWD)(?:_|$)",
    re.IGNORECASE,
)
# Names that only say where a secret lies.
_PLACE_NAME = re.compile(r"_(?:FILE|PATH|DIR|SOCK|URL|HOST|NAME|ID)$|^(?:OLD)?PWD$", re.IGNORECASE)
SETUP_PREFIX = "FORGE_SETUP_"
"""The prefix of variables with credentials for setup."""
# Shorter values would redact ordinary words.
_SHORTEST = 8
_SHORTEST_LINE = 16
# Lines of keys that are no secret: marks, and what every OpenSSH key without a passphrase begins
# with.
_NO_SECRET = ("-----", base64.b64encode(b"openssh-key-v1").decode()[:18])

Redactor = Callable[[str], str]


def secrets_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets of variables, by name: values whose names look like a key's or token's,
    credentials for setup, and passwords in addresses.
    """
    secrets = {name: _secret(name, value) for name, value in environ.items()}
    return {name: value for name, value in secrets.items() if len(value) >= _SHORTEST}


def _secret(name: str, value: str) -> str:
    named = _SECRET_NAME.search(name) is not None and not _PLACE_NAME.search(name)
    if named or name.startswith(SETUP_PREFIX):
        return value
    return password_in(value)


def password_in(address: str) -> str:
    """Return the password in an address; "" if there is none."""
    try:
        return urlsplit(address).password or ""
    except ValueError:
        return ""


def encoded_forms(value: str) -> tuple[str, ...]:
    """Return the texts in which a secret may appear; this is the only list of them.

    They are the secret itself, in hexadecimal, in both alphabets of base 64 at each of the three
    alignments, and percent-encoded as in addresses. In a value with several lines each long line
    counts too. A short value has no such forms.
    """
    forms: list[str] = []
    for text in (value, *_lines(value)):
        raw = text.encode("utf-8", "surrogatepass")
        forms += [text, raw.hex(), raw.hex().upper(), *_base64(raw)]
        forms += [quote(raw, safe=""), quote(raw), quote_plus(raw)]
    return tuple(dict.fromkeys(form for form in forms if len(form) >= _SHORTEST))


def _lines(value: str) -> list[str]:
    lines = [line.strip() for line in value.splitlines()]
    long = [line for line in lines if len(line) >= _SHORTEST_LINE] if lines[1:] else []
    return [line for line in long if not line.startswith(_NO_SECRET)]


def _base64(raw: bytes) -> list[str]:
    """Return the base 64 forms of the bytes at each alignment.

    Characters that depend on the neighbouring bytes are left out.
    """
    encoded = [
        base64.b64encode(b" " * shift + raw).decode().rstrip("=")[(shift and 4) : -2]
        for shift in range(3)
    ]
    return [*encoded, *(text.replace("+", "-").replace("/", "_") for text in encoded)]


def redactor(environ: Mapping[str, str]) -> Redactor:
    """Return a function that replaces every secret of the environment by `[NAME]`, in all forms."""
    return redactor_of(secrets_of(environ))


def redactor_of(secrets: Mapping[str, str]) -> Redactor:
    """Return the same function for secrets that are given by name."""
    names = {form: name for name, value in secrets.items() for form in encoded_forms(value)}
    # The longest comes first: one secret may begin with another.
    ordered = sorted(names, key=len, reverse=True)

    def strike(text: str) -> str:
        for form in ordered:
            text = text.replace(form, f"[{names[form]}]")
        return text

    return strike
