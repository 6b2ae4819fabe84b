"""Read the sections of a document."""

import re
from collections.abc import Iterator
from itertools import pairwise

from forge_bot.artifacts.markdown import Block, BlockKind, read_blocks
from forge_bot.text_format import one_line

LONGEST_SECTION = 4_000
"""Characters of a section that another document repeats."""

CAUSE, DEVIATIONS = "Root Cause or Integration Points", "Deviations"
"""The headings of sections that a pull request repeats."""

_LEVEL = 2
_NONE = re.compile(r"(?:none|no deviations?)\b", re.IGNORECASE)


def read_section(markdown: str, heading: str) -> str:
    """Return the text below a heading of level 1 or 2, up to the next one; "" without one.

    A text is left out if it has more than `LONGEST_SECTION` characters, or if its open blocks would
    include the text behind it.
    """
    lines = re.split(r"\r\n|\r|\n", markdown)
    inside = False
    start = end = 0
    for block in read_blocks(markdown):
        if block.kind is BlockKind.HEADING and not block.quoted and block.level <= _LEVEL:
            if inside:
                end = block.line
                break
            inside, start, end = _has_heading(block, heading), block.end, len(lines)
    text = "\n".join(lines[start:end]).strip() if inside else ""
    return text if len(text) <= LONGEST_SECTION and closes_its_blocks(text) else ""


def without_section(markdown: str, heading: str) -> str:
    """Return the document without the sections under a heading of that name, at any level."""
    lines = re.split(r"\r\n|\r|\n", markdown)
    headings = [
        block
        for block in read_blocks(markdown)
        if block.kind is BlockKind.HEADING and not block.quoted
    ]
    for place, block in reversed([*enumerate(headings)]):
        if _has_heading(block, heading):
            behind = (later.line for later in headings[place + 1 :] if later.level <= block.level)
            del lines[block.line : next(behind, len(lines))]
    return "\n".join(lines)


def split_documents(markdown: str, most: int = 2) -> tuple[str, ...]:
    """Return the documents of a text, each from a level-1 heading on; the last of `most` is all
    that is left.
    """
    titles = [
        block.line
        for block in read_blocks(markdown)
        if block.kind is BlockKind.HEADING and block.level == 1 and not block.quoted
    ]
    lines = re.split(r"\r\n|\r|\n", markdown)
    starts = [0, *titles[1:most]]
    if len(starts) == 1:
        return (markdown,)
    parts = ["\n".join(lines[start:end]) for start, end in pairwise((*starts, len(lines)))]
    return (*(f"{part.rstrip()}\n" for part in parts[:-1]), parts[-1])


def lower_headings(markdown: str, levels: int) -> str:
    """Return the text with each heading as many levels lower, so that it fits into another."""
    lines = re.split(r"\r\n|\r|\n", markdown)
    for block in read_blocks(markdown):
        if block.kind is BlockKind.HEADING and not block.quoted:
            lines[block.line] = "#" * levels + lines[block.line].lstrip()
    return "\n".join(lines)


def first_paragraph(markdown: str, heading: str) -> str:
    """Return the first text of a section as it is written. Text below the section's sub-headings is
    part of it.
    """
    for block in blocks_within(markdown, heading):
        if block.kind is BlockKind.TEXT and not block.depth:
            return "\n".join(markdown.splitlines()[block.line : block.end])
    return ""


def items_below(markdown: str, heading: str) -> list[str]:
    """Return the items of a section, or its paragraphs, in their own Markdown, without what says
    that there are none.
    """
    blocks = [block for block in blocks_below(markdown, heading) if block.depth <= 1]
    return [block.words for block in blocks if block.words and not _NONE.match(block.words)]


def blocks_within(markdown: str, heading: str) -> Iterator[Block]:
    """Yield the blocks below a heading of any level, up to the next one of its level or above."""
    level = 0
    for block in read_blocks(markdown):
        if block.kind is BlockKind.HEADING and (not level or block.level <= level):
            level = block.level if block.text.strip().casefold() == heading.casefold() else 0
        elif level:
            yield block


def blocks_below(markdown: str, heading: str) -> list[Block]:
    """Return the blocks below a heading of level 1 or 2, up to the next one; no quoted ones."""
    below: list[Block] = []
    inside = False
    for block in read_blocks(markdown):
        if block.kind is BlockKind.HEADING and not block.quoted and block.level <= _LEVEL:
            if inside:
                break
            inside = _has_heading(block, heading)
        elif inside and not block.quoted:
            below.append(block)
    return below


def _has_heading(block: Block, heading: str) -> bool:
    return one_line(block.text).strip(" :.#*_").casefold() == heading.casefold()


def closes_its_blocks(text: str) -> bool:
    """Return whether a heading behind the text would be read as one."""
    mark = "Behind the section"
    blocks = read_blocks(f"{text}\n\n## {mark}\n")
    last = blocks[-1]
    return last.kind is BlockKind.HEADING and last.text == mark
