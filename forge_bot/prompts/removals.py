"""The kinds of text that a cleaned text leaves out, in words for people."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from pydantic import Field

from forge_bot.text_format import several
from forge_bot.values import Frozen


class RemovalKind(StrEnum):
    """The kinds of text that are left out, as they are named, in the order of the sentence."""

    HTML_COMMENT = "HTML comment"
    HIDDEN_ELEMENT = "hidden HTML element"
    HTML_TAG = "unseen HTML tag"
    HTML_ATTRIBUTE = "HTML attribute"
    IMAGE_ALT = "image description"
    LINK_TITLE = "link title"
    LINK_ADDRESS = "hidden link address"
    EMPTY_LINK = "empty link"
    FOOTNOTE = "unused footnote"
    FORMULA = "formula"
    DRAWING = "drawing"
    FENCE_INFO = "code block remark"
    UNSEEN_WORD = "unseen word"
    INVISIBLE_CHARACTER = "invisible character"
    CONTROL_CHARACTER = "control character"
    PRIVATE_USE_CHARACTER = "private-use character"
    TOO_LONG = "cut-off character"
    TANGLED = "tangled block"


class Removal(Frozen):
    """The number of removals of one kind: places, or characters or words for some kinds."""

    kind: RemovalKind
    count: int = Field(gt=0)


def list_removals(tally: Mapping[RemovalKind, int]) -> tuple[Removal, ...]:
    return tuple(Removal(kind=kind, count=tally[kind]) for kind in RemovalKind if tally.get(kind))


def sentence(removals: Iterable[Removal]) -> str:
    """Return one sentence for people that lists the removals, or "" without any."""
    listed = count_in_words(removals)
    return f"Removed before the model read it: {listed}." if listed else ""


def count_in_words(removals: Iterable[Removal]) -> str:
    """Return the numbers and kinds as a list in words; "" without any."""
    parts = [several(removal.count, removal.kind) for removal in removals]
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)
