"""Ranges of the lines of a file: joined, taken out of one another, and written with their gaps."""

from collections.abc import Iterable, Sequence

from forge_bot.knowledge.code_blocks import CodeBlock
from forge_bot.text_format import gist

LONGEST_LINE = 4_000
"""Characters of a line that are shown."""

_LONGEST_NAME = 50
"""Characters of a name: titles of tests are sentences."""

_NAMED_IN_GAP = 6

Span = tuple[int, int]
"""The first and the last line, counted from 1."""


def clipped(first: int, last: int, total: int) -> Span:
    """Return a range of lines within a file of so many."""
    return max(1, first), min(max(1, last), total)


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, joined where at most two lines lie between them."""
    joined: list[Span] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 3:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def not_in(spans: Iterable[Span], taken: Sequence[Span]) -> tuple[Span, ...]:
    """Return the lines of `spans` that are not in `taken`, in order."""
    left = [span for span in spans if span[0] <= span[1]]
    for first, last in taken:
        left = [
            part
            for a, b in left
            for part in ((a, min(b, first - 1)), (max(a, last + 1), b))
            if part[0] <= part[1]
        ]
        left = list(dict.fromkeys(left))
    return tuple(sorted(left))


def size_of(lines: Sequence[str], spans: Sequence[Span]) -> int:
    """Return the characters that ranges of lines take, with the lines in place of gaps."""
    marks = 80 * (len(spans) + 1)
    return marks + sum(
        min(len(line), LONGEST_LINE) + 1 for a, b in spans for line in lines[a - 1 : b]
    )


def written(lines: Sequence[str], spans: Sequence[Span], blocks: Sequence[CodeBlock]) -> str:
    """Return ranges of lines as a text that names the omitted lines and their definitions."""
    parts: list[str] = []
    reached = 0
    for first, last in spans:
        parts += _gap(reached + 1, first - 1, blocks)
        parts += [_shortened(line) for line in lines[first - 1 : last]]
        reached = last
    if spans:
        parts += _gap(reached + 1, len(lines), blocks)
    return "\n".join(parts) + "\n" if parts else ""


def _gap(first: int, last: int, blocks: Sequence[CodeBlock]) -> list[str]:
    """Return the line that stands for omitted lines, with their definitions and where these are."""
    if first > last:
        return []
    inside: dict[str, int] = {}
    for block in blocks:
        if first <= block.first <= last:
            inside.setdefault(gist(block.name, _LONGEST_NAME), max(block.at, block.first))
    some = [f"{name} {at}" for name, at in inside.items()][:_NAMED_IN_GAP]
    names = ", ".join(some) + (", …" if len(inside) > _NAMED_IN_GAP else "")
    return [f"[… lines {first}-{last} are not shown here{f': {names}' if names else ''} …]"]


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}[… line is longer …]"
