"""The blocks of a text by its indentation."""

from collections.abc import Iterator, Sequence

LONGEST = 90
"""Lines of a definition that is shown whole."""

CLOSERS = (")", "]", "}", "end")
_OPENERS = ("(", "[", "{", ":")
_PIECE = 40

Span = tuple[int, int]
"""The first and the last line, counted from 1."""


def block_end(lines: Sequence[str], first: int) -> int:
    """Return the last line of what stands indented below a line, with the line that closes it."""
    width, last = _indent(lines[first - 1]), first
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        closes = line.lstrip().startswith(CLOSERS)
        if _indent(line) < width or (_indent(line) == width and not closes):
            break
        last = number
        if _indent(line) == width and not line.rstrip().endswith(_OPENERS):
            break
    return last


def blocks_around(lines: Sequence[str], line: int) -> Iterator[Span]:
    """Yield the blocks around a line by indentation, the innermost first."""
    at = line
    while at:
        last = block_end(lines, at)
        if last >= line:
            yield at, last
        width = _indent(lines[at - 1])
        above = range(at - 1, 0, -1)
        at = next(
            (
                n
                for n in above
                if lines[n - 1].strip()
                and _indent(lines[n - 1]) < width
                and not lines[n - 1].lstrip().startswith(CLOSERS)
            ),
            0,
        )


def pieces_between(lines: Sequence[str], first: int, last: int) -> Iterator[Span]:
    """Yield the blocks between two lines, long ones in the blocks that they hold."""
    at = first
    while at <= last:
        end = min(block_end(lines, at), last) if lines[at - 1].strip() else at
        if end - at < LONGEST:
            if end > at:
                yield at, end
        elif at + 1 < end:
            inner = [*pieces_between(lines, at + 1, end - 1)]
            yield from inner or [
                (start, min(start + _PIECE - 1, end)) for start in range(at, end, _PIECE)
            ]
        at = end + 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
