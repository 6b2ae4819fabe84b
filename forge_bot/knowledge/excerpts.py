"""Show a file whole, or the parts of it that a text speaks of."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from forge_bot.knowledge.code_blocks import CodeBlock, code_blocks, named
from forge_bot.knowledge.search_index import Ranking
from forge_bot.project.words import words

_WHOLE = 8_000
"""Characters up to which a file is shown whole: what is read for nothing costs every call."""

_AROUND = 12
_AROUND_USE = 3
_SHORT_BLOCK = 40
_LICENCE = 5
_COMMENT = re.compile(r"\s*(?:#|//|/?\*|--|;|$)")
_HEAD = 30
_TAIL = 20
_LONGEST_BLOCK = 90
_MOST_USES = 4
_MOST_RANKED = 6
_LONGEST_LINE = 4_000
_NAMED_IN_GAP = 6
_PIECES_OF_BLOCK = 40

Span = tuple[int, int]


class WantedPlaces(NamedTuple):
    """The parts of a file that matter: lines, names, and the words of the task.

    With `search` the words count also where lines or names are found. Of `prose`, such as a
    changelog, the beginning comes before what only uses a name.
    """

    lines: tuple[Span, ...] = ()
    names: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    search: bool = False
    prose: bool = False


class Excerpt(NamedTuple):
    """The text that is shown of a file, and which lines of how many it has."""

    text: str
    spans: tuple[Span, ...]
    total: int

    @property
    def whole(self) -> bool:
        """Return whether every line is shown."""
        return self.spans == ((1, self.total),) or not self.total

    @property
    def said(self) -> str:
        """Return the ranges of lines in words."""
        ranges = ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in self.spans)
        return f"lines {ranges} of {self.total:,}"


def excerpt(text: str, wanted: WantedPlaces, room: int, *, without: Sequence[Span] = ()) -> Excerpt:
    """Return what fits into `room` characters: a small file whole, of others the wanted parts.

    Named lines come first, then the definitions of names, what uses the names, what shares most
    words with the task, the beginning, and the end. Lines of `without` are shown elsewhere and left
    out.
    """
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    total = len(lines)
    everything = _minus(((1, total),), without) if total else ()
    if _size(lines, everything) <= min(room, _WHOLE):
        return Excerpt(_written(lines, everything, ()), everything, total)
    blocks = code_blocks(lines)
    chosen: tuple[Span, ...] = ()
    for span in _by_worth(lines, blocks, wanted):
        fresh = _minus((span,), (*without, *chosen))
        more = _merged((*chosen, *fresh))
        if fresh and _size(lines, more) <= room:
            chosen = more
    return Excerpt(_written(lines, chosen, blocks), chosen, total)


def _by_worth(
    lines: Sequence[str], blocks: Sequence[CodeBlock], wanted: WantedPlaces
) -> Iterator[Span]:
    total = len(lines)
    for first, last in wanted.lines:
        if first <= total:
            yield _clipped(first - _AROUND, last + _AROUND, total)
            yield from _enclosing(blocks, first)
    if wanted.prose:
        yield _clipped(1, _HEAD, total)
    found = [block for name in wanted.names for block in named(blocks, name)]
    for block in found:
        yield from _short_around(blocks, block.first)
        yield from _pieces(block, first_only=True)
    if wanted.search:
        for block in found:
            yield from _pieces(block, first_only=False)
    if wanted.search or not (found or wanted.lines):
        yield from _uses(lines, blocks, wanted.names)
        yield from _ranked(lines, blocks, wanted.about)
    yield _beginning(lines)
    for block in found:
        yield from _pieces(block, first_only=False)
    yield _clipped(total - _TAIL, total, total)


def _beginning(lines: Sequence[str]) -> Span:
    """Return the first lines of a file, without the comment that names its licence."""
    first = next(
        (number for number, line in enumerate(lines, 1) if not _COMMENT.match(line)), len(lines)
    )
    return _clipped(first if first > _LICENCE else 1, first + _HEAD, len(lines))


def _enclosing(blocks: Sequence[CodeBlock], line: int) -> Iterator[Span]:
    around = [block for block in blocks if block.first <= line <= block.last]
    for block in sorted(around, key=lambda block: block.last - block.first):
        if block.last - block.first < _LONGEST_BLOCK:
            yield block.first, block.last
        else:
            yield block.first, min(block.first + _AROUND, block.last)


def _pieces(block: CodeBlock, *, first_only: bool) -> Iterator[Span]:
    """Yield a definition; a long one as its beginning, and then in the parts it is made of."""
    if block.last - block.first < _LONGEST_BLOCK:
        if first_only:
            yield block.first, block.last
        return
    if first_only:
        yield block.first, block.first + _PIECES_OF_BLOCK
        return
    for start in range(block.first + _PIECES_OF_BLOCK + 1, block.last + 1, _PIECES_OF_BLOCK):
        yield start, min(start + _PIECES_OF_BLOCK - 1, block.last)


def _uses(
    lines: Sequence[str], blocks: Sequence[CodeBlock], names: Sequence[str]
) -> Iterator[Span]:
    """Yield the definitions that use a name, and the lines around it where they are long."""
    for name in names:
        use = re.compile(rf"(?<!\w){re.escape(_last(name))}(?!\w)")
        hits = [number for number, line in enumerate(lines, 1) if use.search(line)]
        for number in hits[:_MOST_USES]:
            around = [*_short_around(blocks, number)]
            yield from around or [_clipped(number - _AROUND_USE, number + _AROUND_USE, len(lines))]


def _short_around(blocks: Sequence[CodeBlock], line: int) -> Iterator[Span]:
    """Yield the longest definition around a line that is still short, if there is one."""
    spans = [(block.first, block.last) for block in blocks if block.first <= line <= block.last]
    short = [(first, last) for first, last in spans if last - first < _SHORT_BLOCK]
    if short:
        yield max(short, key=lambda span: span[1] - span[0])


def _last(name: str) -> str:
    return name.replace("::", ".").rpartition(".")[2]


def _ranked(
    lines: Sequence[str], blocks: Sequence[CodeBlock], about: Sequence[str]
) -> Iterator[Span]:
    """Yield the parts that share most words with the task."""
    spans = [
        (block.first, block.last) for block in blocks if block.last - block.first < _AROUND * 8
    ]
    if not spans:
        spans = [
            (start, min(start + _PIECES_OF_BLOCK, len(lines)))
            for start in range(1, len(lines) + 1, _PIECES_OF_BLOCK)
        ]
    texts = [
        words(" ".join(line[:_LONGEST_LINE] for line in lines[first - 1 : last]))
        for first, last in spans
    ]
    for place, _score in Ranking(texts).best(about, _MOST_RANKED):
        yield spans[place]


def _clipped(first: int, last: int, total: int) -> Span:
    return max(1, first), min(max(1, last), total)


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, joined where at most two lines lie between them."""
    joined: list[Span] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 3:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def _minus(spans: Iterable[Span], taken: Sequence[Span]) -> tuple[Span, ...]:
    """Return the lines of `spans` that are not in `taken`."""
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


def _size(lines: Sequence[str], spans: Sequence[Span]) -> int:
    marks = 80 * (len(spans) + 1)
    return marks + sum(
        min(len(line), _LONGEST_LINE) + 1 for a, b in spans for line in lines[a - 1 : b]
    )


def _written(lines: Sequence[str], spans: Sequence[Span], blocks: Sequence[CodeBlock]) -> str:
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
    """Return the line in place of what is not shown, with what is defined there."""
    if first > last:
        return []
    inside = [block.name for block in blocks if first <= block.first <= last]
    names = ", ".join(inside[:_NAMED_IN_GAP]) + (", …" if len(inside) > _NAMED_IN_GAP else "")
    return [f"[… lines {first}-{last} are not shown here{f': {names}' if names else ''} …]"]


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}[… line is longer …]"
