"""The kinds of text that a cleaned text leaves out, in words for people."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class RemovalKind(StrEnum):
    """The kinds of text that are left out, in the order of the sentence."""

    HTML_COMMENT = "html_comment"
    HIDDEN_ELEMENT = "hidden_element"
    HTML_TAG = "html_tag"
    HTML_ATTRIBUTE = "html_attribute"
    IMAGE_ALT = "image_alt"
    LINK_TITLE = "link_title"
    LINK_ADDRESS = "link_address"
    EMPTY_LINK = "empty_link"
    FOOTNOTE = "footnote"
    FORMULA = "formula"
    DRAWING = "drawing"
    FENCE_INFO = "fence_info"
    UNSEEN_WORD = "unseen_word"
    INVISIBLE_CHARACTER = "invisible_character"
    CONTROL_CHARACTER = "control_character"
    PRIVATE_USE_CHARACTER = "private_use_character"
    TOO_LONG = "too_long"
    TANGLED = "tangled"


_IN_WORDS: Mapping[RemovalKind, tuple[str, str]] = {
    RemovalKind.HTML_COMMENT: ("HTML comment", "HTML comments"),
    RemovalKind.HIDDEN_ELEMENT: ("hidden HTML element", "hidden HTML elements"),
    RemovalKind.HTML_TAG: ("HTML tag that is not shown", "HTML tags that are not shown"),
    RemovalKind.HTML_ATTRIBUTE: ("HTML tag's attributes", "HTML tags' attributes"),
    RemovalKind.IMAGE_ALT: ("image description", "image descriptions"),
    RemovalKind.LINK_TITLE: ("link title", "link titles"),
    RemovalKind.LINK_ADDRESS: ("link address with spaces", "link addresses with spaces"),
    RemovalKind.EMPTY_LINK: ("link without text", "links without text"),
    RemovalKind.FOOTNOTE: ("unused footnote", "unused footnotes"),
    RemovalKind.FORMULA: ("formula", "formulas"),
    RemovalKind.DRAWING: ("drawing", "drawings"),
    RemovalKind.FENCE_INFO: ("remark on a code block", "remarks on code blocks"),
    RemovalKind.UNSEEN_WORD: ("word that is not shown", "words that are not shown"),
    RemovalKind.INVISIBLE_CHARACTER: ("invisible character", "invisible characters"),
    RemovalKind.CONTROL_CHARACTER: ("control character", "control characters"),
    RemovalKind.PRIVATE_USE_CHARACTER: ("private-use character", "private-use characters"),
    RemovalKind.TOO_LONG: (
        "character beyond the limit on length",
        "characters beyond the limit on length",
    ),
    RemovalKind.TANGLED: ("block too tangled to read", "blocks too tangled to read"),
}


class Removal(BaseModel):
    """The number of removals of one kind: places, or characters or words for some kinds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: RemovalKind
    count: int = Field(gt=0)


def list_removals(tally: Mapping[RemovalKind, int]) -> tuple[Removal, ...]:
    """Return the tally as values, in the order of the kinds."""
    return tuple(Removal(kind=kind, count=tally[kind]) for kind in RemovalKind if tally.get(kind))


def sentence(removals: Iterable[Removal]) -> str:
    """Return one sentence for people that lists the removals, or "" without any."""
    listed = count_in_words(removals)
    return f"Removed before the model read it: {listed}." if listed else ""


def count_in_words(removals: Iterable[Removal]) -> str:
    """Return the numbers and kinds as a list in words; "" without any."""
    parts = [
        f"{removal.count:,} {_IN_WORDS[removal.kind][removal.count != 1]}" for removal in removals
    ]
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)
