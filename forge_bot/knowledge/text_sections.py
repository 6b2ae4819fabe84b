"""The sections of a text in Markdown, reStructuredText or AsciiDoc, and what is shown of it."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from forge_bot.knowledge.line_spans import written
from forge_bot.values import Frozen

_HEADING = re.compile(r"#{1,6}\s+\S|=+\s\S")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#`:.])\1{2,}\s*")

Span = tuple[int, int]
"""The first line, counted from 0, and the one after the last."""


class HouseRule(Frozen):
    """The shown text of one file; `part` names the part, and is empty for the whole file."""

    path: str
    text: str
    part: str = ""


def length_of(lines: Sequence[str]) -> int:
    """Return the characters of some lines."""
    return sum(len(line) + 1 for line in lines)


def sections_of(lines: Sequence[str]) -> Iterator[Span]:
    """Yield the sections of a text, without their subsections."""
    starts = [0]
    fenced = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        below = lines[number + 1] if number + 1 < len(lines) else ""
        titled = bool(line.strip()) and len(below) >= len(line.rstrip())
        underlined = titled and _UNDERLINE.fullmatch(below) is not None
        if not fenced and (_HEADING.match(line) or underlined):
            starts.append(number)
    yield from (
        span for span in pairwise(dict.fromkeys((*starts, len(lines)))) if span[0] < span[1]
    )


def mark_of(lines: Sequence[str], first: int) -> str:
    """Return the signs for the level of the heading at a line; "" for a line without one."""
    below = lines[first + 1] if first + 1 < len(lines) else ""
    if _HEADING.match(lines[first]):
        return lines[first].split(" ")[0]
    return below[:1] if _UNDERLINE.fullmatch(below) else ""


def with_gaps(lines: Sequence[str], spans: Sequence[Span]) -> str:
    """Return parts of a text, with a line for each omitted part."""
    return written(lines, [(first + 1, last) for first, last in spans], ())
