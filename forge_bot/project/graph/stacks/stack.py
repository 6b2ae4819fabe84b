"""A stack: the facts in its files, and the targets of its imports."""

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
    new_file: str = ""
    """The text of a new file, with a place for its purpose; empty where none is made."""

    @property
    def slug(self) -> str:
        """The stack in one word, for addresses."""
        return self.name.split(" ", 1)[0].lower()
