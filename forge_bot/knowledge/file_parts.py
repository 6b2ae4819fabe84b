"""The parts that files are shown in: their beginning, definitions, uses of a name, and what shares
most words with a text.
"""

import re
from collections.abc import Iterator, Sequence

from forge_bot.knowledge.code_blocks import CodeBlock, belongs, short_around
from forge_bot.knowledge.line_spans import LONGEST_LINE, Span, clipped, merged, not_in
from forge_bot.knowledge.mentions import as_searched
from forge_bot.knowledge.name_uses import telling_uses
from forge_bot.knowledge.search_index import Ranking
from forge_bot.project.search_words import words

AROUND = 12
"""Lines before and after a named one."""

HEAD = 30
LONGEST_BLOCK = 90
"""Lines of a definition that is shown whole."""

MOST_RANKED = 2
_AROUND_USE = 3
_LICENCE = 5
_FEW_USES = 8
_LEAST_PIECE = 3
_HEAD_OF_LONG = 20
"""Lines of the beginning of a definition that is too long to be shown whole."""

_PIECES_OF_BLOCK = 40
_TOP = 120
"""Lines in which the imports of a file are looked for."""

_IMPORT = re.compile(
    r"(?:from\s+[\w.]+\s+import|import|package|use|pub use|mod|extern crate|using|#include"
    r"|require|require_relative)\b"
    r"|(?:const|let|var)\b.*\brequire\(|export\b.*\bfrom\s+['\"]"
)
_OPENS = ("(", "{", "[")
_CLOSES = re.compile(r"[)\]}]")
_COMMENT = re.compile(r"\s*(?:#|//|/?\*|--|;|$)")


def parts_of(blocks: Sequence[CodeBlock], owner: CodeBlock) -> list[CodeBlock]:
    return [block for block in blocks if belongs(block, (owner,))]


def beginning_of(lines: Sequence[str]) -> Span:
    """Return the first lines of a file, without the comment that names its licence."""
    first = next(
        (number for number, line in enumerate(lines, 1) if not _COMMENT.match(line)), len(lines)
    )
    return clipped(first if first > _LICENCE else 1, first + HEAD, len(lines))


def imports_of(lines: Sequence[str]) -> Span | None:
    """Return the lines near the top of a file that import something, if there are any: what an
    edit may use and has to extend.
    """
    top = lines[:_TOP]
    at = [number for number, line in enumerate(top, 1) if _IMPORT.match(line)]
    if not at:
        return None
    last = at[-1]
    if top[last - 1].rstrip().endswith(_OPENS):
        rest = (number for number, line in enumerate(top[last:], last + 1) if _CLOSES.match(line))
        last = next(rest, last)
    return at[0], min(last, at[0] + HEAD)


def enclosing(blocks: Sequence[CodeBlock], line: int) -> Iterator[Span]:
    around = [block for block in blocks if block.first <= line <= block.last]
    for block in sorted(around, key=lambda block: block.last - block.first):
        if block.last - block.first < LONGEST_BLOCK:
            yield block.first, block.last
        else:
            yield block.first, min(block.first + AROUND, block.last)


def pieces(block: CodeBlock, *, first_only: bool) -> Iterator[Span]:
    """Yield a definition; a long one as its beginning, and then in the parts it is made of."""
    if block.last - block.first < LONGEST_BLOCK:
        if first_only:
            yield block.first, block.last
        return
    if first_only:
        yield block.first, block.first + _HEAD_OF_LONG
        return
    for start in range(block.first + _HEAD_OF_LONG + 1, block.last + 1, _PIECES_OF_BLOCK):
        yield start, min(start + _PIECES_OF_BLOCK - 1, block.last)


def uses_of(
    lines: Sequence[str],
    blocks: Sequence[CodeBlock],
    names: Sequence[str],
    most: int,
    around: int = _AROUND_USE,
) -> Iterator[Span]:
    """Yield the definitions that use a name, or the lines around the use in long ones; a limited
    number for each name.
    """
    for name in names:
        seen: dict[Span, None] = {}
        uses = telling_uses(lines, blocks, as_searched(name))
        if len(uses) > _FEW_USES and as_searched(name) != name:
            # Of a common name, as `from_header` of `IfRange.from_header`, the whole one counts.
            uses = [at for at in uses if name in lines[at - 1]]
        for number in uses:
            here = clipped(number - around, number + around, len(lines))
            seen.update(dict.fromkeys([*short_around(blocks, number)] or [here]))
            if len(seen) == most:
                break
        yield from seen


def ranked(
    lines: Sequence[str],
    blocks: Sequence[CodeBlock],
    about: Sequence[str],
    most: int = MOST_RANKED,
) -> Iterator[Span]:
    """Yield the parts that share most words with the task: short definitions, and what long ones
    hold outside of these.
    """
    short = [(block.first, block.last) for block in blocks if block.last - block.first < AROUND * 8]
    long = [(block.first, block.last) for block in blocks if block.last - block.first >= AROUND * 8]
    spans = [
        (start, min(start + _PIECES_OF_BLOCK - 1, last))
        for first, last in not_in(merged(long) if blocks else ((1, len(lines)),), short)
        for start in range(first, last + 1, _PIECES_OF_BLOCK)
    ]
    spans = [*short, *(span for span in spans if span[1] - span[0] >= _LEAST_PIECE)]
    texts = [
        words(" ".join(line[:LONGEST_LINE] for line in lines[first - 1 : last]))
        for first, last in spans
    ]
    for place, _score in Ranking(texts).best(about, most):
        yield from short_around(blocks, spans[place][0])
        yield spans[place]
