"""Parts of links and images: open brackets, targets, and invisible labels that may stay."""

import html
import re
from dataclasses import dataclass
from typing import NamedTuple

from forge_bot.prompts.characters import is_suspect
from forge_bot.prompts.removals import RemovalKind, RemovedSpan

LONGEST_LABEL = 999  # CommonMark: a link label has at most 999 characters between its brackets
LONGEST_HIDDEN_WORD = 30  # an invisible label stays when it is one word up to this length
MOST_HIDDEN_PARTS = 3  # and made of no more words than these, joined by hyphens or the like

_PARTS = re.compile(r"[^\W_]+")
_TAGS = re.compile(r"<[^<>]*>")


@dataclass
class Bracket:
    """A `[` or `![` that waits for its `]`."""

    at: int
    image: bool
    bracket_after: bool = False

    @property
    def inside(self) -> int:
        """Return where the text between the brackets begins."""
        return self.at + (2 if self.image else 1)


class Target(NamedTuple):
    """The target of a link: its end, its hidden parts, and the label that names it."""

    end: int
    hidden: tuple[RemovedSpan, ...] = ()
    label: str | None = None
    by_text: bool = False


def is_plain_word(label: str) -> bool:
    """Return whether it is one short word:

    such a label or language stays although it is invisible.
    """
    return (
        len(label) <= LONGEST_HIDDEN_WORD
        and label.split() == [label]
        and len(_PARTS.findall(label)) <= MOST_HIDDEN_PARTS
    )


def is_blank(shown: str) -> bool:
    """Return whether the text of a link shows nothing.

    Blanks, invisible characters and tags show nothing, also when written as entities.
    """
    words = html.unescape(_TAGS.sub("", shown) if "<img" not in shown.lower() else shown)
    return all(char.isspace() or is_suspect(char) for char in words)


def label_end(source: str, at: int) -> int:
    """Return the place of the `]` that ends the label beginning with the `[` at `at`, or -1."""
    if not source.startswith("[", at):
        return -1
    place = at + 1
    while place < min(len(source), at + LONGEST_LABEL + 2) and source[place] != "[":
        if source[place] == "]":
            return place
        place += 2 if source[place] == "\\" else 1
    return -1


def alt(opener: Bracket, at: int, target: Target) -> list[RemovedSpan]:
    """Return the description of an image that closes at `at`.

    If the description is also the label, the image is removed with it.
    """
    if target.by_text:
        return [RemovedSpan(opener.at, target.end, RemovalKind.IMAGE_ALT)]
    return [RemovedSpan(opener.inside, at, RemovalKind.IMAGE_ALT)] if at > opener.inside else []


def spaced_address(source: str, start: int, end: int) -> tuple[RemovedSpan, ...]:
    """Return the inside of `<an address with spaces>` between two offsets.

    No address needs spaces, but words do.
    """
    inside = source[start + 1 : end - 1]
    if source.startswith("<", start) and any(char.isspace() for char in inside):
        return (RemovedSpan(start + 1, end - 1, RemovalKind.LINK_TARGET),)
    return ()
