"""The words of a new file: names in the forms of languages, and its purpose as a sentence."""

import re

from forge_bot.project.graph.stacks.stack import NewFile

_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")
_UNSAFE = re.compile(r'["\\\x00-\x1f]|\*/')
_LONGEST = 90


def parts_of(name: str) -> list[str]:
    """Return the words of a name, in lower case."""
    return [part.lower() for part in _PART.findall(name)]


def camel(name: str) -> str:
    """Return a name as types are written: `PriceList`."""
    return "".join(part.capitalize() for part in parts_of(name))


def sentence(new: NewFile) -> str:
    """Return the purpose in one line that ends with a full stop, safe in any comment."""
    text = " ".join(_UNSAFE.sub(" ", new.purpose or " ".join(parts_of(new.name))).split())
    text = text[:_LONGEST].rstrip(" .")
    return f"{text[:1].upper()}{text[1:]}."
