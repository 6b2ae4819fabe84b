"""The kinds of text that can be removed, as spans of the source and in words for people."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field


class RemovalKind(StrEnum):
    """Ways to hide text in Markdown, each named by what was found, in the order of the sentence."""

    HTML_COMMENT = "html_comment"
    HIDDEN_ELEMENT = "hidden_element"
    HTML_TAG = "html_tag"
    HTML_TAG_ATTRIBUTE = "html_tag_attribute"
    CDATA = "cdata"
    PROCESSING_INSTRUCTION = "processing_instruction"
    DECLARATION = "declaration"
    IMAGE_ALT = "image_alt"
    LINK_TITLE = "link_title"
    LINK_TARGET = "link_target"
    LINK_LABEL = "link_label"
    EMPTY_LINK = "empty_link"
    LINK_REFERENCE_DEFINITION = "link_reference_definition"
    FOOTNOTE = "footnote"
    FOOTNOTE_LABEL = "footnote_label"
    FORMULA = "formula"
    DIAGRAM_COMMENT = "diagram_comment"
    FENCE_INFO = "fence_info"
    TABLE_CELL = "table_cell"
    INVISIBLE_CHARACTER = "invisible_character"
    CONTROL_CHARACTER = "control_character"
    PRIVATE_USE_CHARACTER = "private_use_character"
    TOO_DEEP = "too_deep"
    TOO_LONG = "too_long"
    TANGLED = "tangled"


_IN_WORDS: Mapping[RemovalKind, tuple[str, str]] = {
    RemovalKind.HTML_COMMENT: ("HTML comment", "HTML comments"),
    RemovalKind.HIDDEN_ELEMENT: ("hidden HTML element", "hidden HTML elements"),
    RemovalKind.HTML_TAG: ("HTML tag that is not shown", "HTML tags that are not shown"),
    RemovalKind.HTML_TAG_ATTRIBUTE: ("HTML attribute", "HTML attributes"),
    RemovalKind.CDATA: ("CDATA section", "CDATA sections"),
    RemovalKind.PROCESSING_INSTRUCTION: ("processing instruction", "processing instructions"),
    RemovalKind.DECLARATION: ("HTML declaration", "HTML declarations"),
    RemovalKind.IMAGE_ALT: ("image description", "image descriptions"),
    RemovalKind.LINK_TITLE: ("link title", "link titles"),
    RemovalKind.LINK_TARGET: ("link target with spaces", "link targets with spaces"),
    RemovalKind.LINK_LABEL: ("hidden link label", "hidden link labels"),
    RemovalKind.EMPTY_LINK: ("link without text", "links without text"),
    RemovalKind.LINK_REFERENCE_DEFINITION: ("unused link definition", "unused link definitions"),
    RemovalKind.FOOTNOTE: ("unused footnote", "unused footnotes"),
    RemovalKind.FOOTNOTE_LABEL: ("long footnote label", "long footnote labels"),
    RemovalKind.FORMULA: ("hidden part of a formula", "hidden parts of formulas"),
    RemovalKind.DIAGRAM_COMMENT: ("comment in a diagram", "comments in diagrams"),
    RemovalKind.FENCE_INFO: ("remark on a code fence", "remarks on code fences"),
    RemovalKind.TABLE_CELL: ("table row's surplus cells", "table rows' surplus cells"),
    RemovalKind.INVISIBLE_CHARACTER: ("invisible character", "invisible characters"),
    RemovalKind.CONTROL_CHARACTER: ("control character", "control characters"),
    RemovalKind.PRIVATE_USE_CHARACTER: ("private-use character", "private-use characters"),
    RemovalKind.TOO_DEEP: ("block nested too deeply", "blocks nested too deeply"),
    RemovalKind.TOO_LONG: (
        "character beyond the limit on length",
        "characters beyond the limit on length",
    ),
    RemovalKind.TANGLED: (
        "character of markup too tangled to read",
        "characters of markup too tangled to read",
    ),
}


class Removal(BaseModel):
    """The number of removals of one kind: spans, or characters for some kinds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: RemovalKind
    count: int = Field(gt=0)


class RemovedSpan(NamedTuple):
    """A span of the source to remove: offsets in characters, end excluded."""

    start: int
    end: int
    kind: RemovalKind


def removals_of(tally: Mapping[RemovalKind, int]) -> tuple[Removal, ...]:
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


def cut(text: str, spans: Iterable[RemovedSpan]) -> tuple[str, Counter[RemovalKind]]:
    """Return the text without the spans, and what was cut.

    Of nested spans only the outermost is counted.
    """
    kept: list[str] = []
    tally: Counter[RemovalKind] = Counter()
    reached = 0
    for start, end, kind in sorted(spans, key=lambda span: (span.start, -span.end)):
        if end <= max(reached, start) or start >= len(text):
            continue
        kept.append(text[reached : max(reached, start)])
        reached = end
        tally[kind] += 1
    kept.append(text[reached:])
    return "".join(kept), tally
