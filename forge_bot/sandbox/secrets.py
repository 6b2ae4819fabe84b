"""Recognise secrets: names of variables and settings, and addresses with credentials."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(
    r"token|secret|passw|passphrase|credential|auth|api_?key|_key\b|keyfile|client_?cert|username"
    r"|extraheader|_pat\b",
    re.IGNORECASE,
)
_ADDRESS_WITH_SECRET = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://"
    r"([^/\s@]*@|\S*[?&][\w-]*(token|key|auth|sig|password|secret)=)",
    re.IGNORECASE,
)
_REPLACED_SECTION = "[hidden]\n"


def secret_name(name: str) -> bool:
    """Return whether a variable or setting with this name usually holds a secret."""
    return bool(_NAME.search(name))


def secret_value(value: str) -> bool:
    """Return whether a value has a user, password or token in an address."""
    return bool(_ADDRESS_WITH_SECRET.search(value))


def without_secrets(text: str) -> str:
    """Remove the lines that hold a secret from a configuration file.

    The file has the forms `name = value` and `name: value`. A section named by a secret (git's
    `[url "https://user:token@host/"]`) keeps its lines under a meaningless name.
    """
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            kept.append(_REPLACED_SECTION if secret_value(line) else line)
        elif not secret_value(line) and not secret_name(
            line.partition("=" if "=" in line else ":")[0]
        ):
            kept.append(line)
    return "".join(kept)


def texts_in(folder: Path, names: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield the files of these names that are there and can be read, each with its text."""
    for file in (folder / name for name in names):
        if file.is_file():
            with suppress(OSError):
                yield file, file.read_text(encoding="utf-8", errors="replace")
