"""A stack: the facts in its files, the targets of its imports, and the words of a new file."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from forge_bot.project.file_list import Listing
from forge_bot.project.graph.syntax import FileFacts, ImportLine


class Resolution(NamedTuple):
    """The meaning of one import: files of the project, or a package outside, or neither."""

    paths: tuple[str, ...] = ()
    outside: str = ""
    missing: str = ""


class NewFile(NamedTuple):
    """A file to write: its path, its name, its purpose, and the text of a neighbouring file."""

    path: str
    name: str
    purpose: str
    type_name: bool = False
    beside: str = ""


Resolve = Callable[[str, ImportLine], tuple[Resolution, ...]]
"""Takes the importing file and its import, and gives what it means."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One stack with its faces."""

    name: str
    endings: tuple[str, ...]
    read: Callable[[str, bytes], FileFacts]
    resolver: Callable[[Listing], Resolve] | None
    promise: str
    scaffold: Callable[[NewFile], str] | None = None

    @property
    def slug(self) -> str:
        """The stack in one word, for addresses."""
        return self.name.split(" ", 1)[0].lower()


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
