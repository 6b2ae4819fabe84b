"""Read the sections of a document."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from forge_bot.artifacts.markdown import Block, BlockKind, read_blocks
from forge_bot.text_format import one_line

LONGEST_SECTION = 4_000
"""Characters of a section that another document repeats."""

CAUSE, DEVIATIONS = "Root Cause or Integration Points", "Deviations"
"""The headings of sections that a pull request repeats."""

_NONE = re.compile(r"(?:none|no deviations?)\b", re.IGNORECASE)


def read_section(markdown: str, heading: str) -> str:
    """Return the text below a heading, up to the next one of its level or above; "" without one.

    A text is left out if it has more than `LONGEST_SECTION` characters, or if its open blocks would
    include the text behind it.
    """
    blocks, lines = read_blocks(markdown), split_lines(markdown)
    for start, end in _sections(blocks, heading):
        last = blocks[end].line if end < len(blocks) else len(lines)
        text = "\n".join(lines[blocks[start].end : last]).strip()
        return text if len(text) <= LONGEST_SECTION and closes_its_blocks(text) else ""
    return ""


def without_section(markdown: str, heading: str) -> str:
    """Return the document without the sections under a heading of that name."""
    blocks, lines = read_blocks(markdown), split_lines(markdown)
    for start, end in reversed([*_sections(blocks, heading)]):
        del lines[blocks[start].line : blocks[end].line if end < len(blocks) else len(lines)]
    return "\n".join(lines)


def split_documents(markdown: str, most: int = 2) -> tuple[str, ...]:
    """Return the documents of a text, each from a level-1 heading on; the last of `most` is all
    that is left.
    """
    headings = (block for block in read_blocks(markdown) if block.is_heading)
    titles = [block.line for block in headings if block.level == 1]
    lines, starts = split_lines(markdown), [0, *titles[1:most]]
    if len(starts) == 1:
        return (markdown,)
    parts = ["\n".join(lines[start:end]) for start, end in pairwise((*starts, len(lines)))]
    return (*(f"{part.rstrip()}\n" for part in parts[:-1]), parts[-1])


def lower_headings(markdown: str, levels: int) -> str:
    """Return the text with each heading as many levels lower, so that it fits into another."""
    lines = split_lines(markdown)
    for block in read_blocks(markdown):
        if block.is_heading:
            lines[block.line] = "#" * levels + lines[block.line].lstrip()
    return "\n".join(lines)


def first_paragraph(markdown: str, heading: str) -> str:
    """Return the first text of a section as it is written."""
    texts = (block for block in blocks_below(markdown, heading) if block.kind is BlockKind.TEXT)
    first = next((block for block in texts if not block.depth), None)
    return "" if first is None else "\n".join(split_lines(markdown)[first.line : first.end])


def items_below(markdown: str, heading: str) -> list[str]:
    """Return the items of a section, or its paragraphs, in their own Markdown, without what says
    that there are none.
    """
    blocks = [block for block in blocks_below(markdown, heading) if block.depth <= 1]
    return [block.words for block in blocks if block.words and not _NONE.match(block.words)]


def blocks_below(markdown: str, heading: str) -> list[Block]:
    """Return the blocks below a heading, up to the next one of its level or above; no quoted ones.
    Sub-headings are blocks too.
    """
    blocks = read_blocks(markdown)
    start, end = next(_sections(blocks, heading), (0, 0))
    return [block for block in blocks[start + 1 : end] if not block.quoted]


def _sections(blocks: Sequence[Block], heading: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the headings of that name, and those where their sections end."""
    headings = [place for place, block in enumerate(blocks) if block.is_heading]
    for number, start in enumerate(headings):
        name = one_line(blocks[start].text).strip(" :.#*_")
        if name.casefold() == heading.casefold():
            behind = headings[number + 1 :]
            ends = (end for end in behind if blocks[end].level <= blocks[start].level)
            yield start, next(ends, len(blocks))


def closes_its_blocks(text: str) -> bool:
    """Return whether a heading behind the text would be read as one."""
    mark = "Behind the section"
    last = read_blocks(f"{text}\n\n## {mark}\n")[-1]
    return last.kind is BlockKind.HEADING and last.text == mark


def split_lines(markdown: str) -> list[str]:
    """Return the lines as CommonMark counts them."""
    return re.split(r"\r\n|\r|\n", markdown)
