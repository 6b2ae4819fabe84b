"""Comments that fit: fixed words, and parts that take as much room as is left.

GitHub refuses bodies above 65,536 characters. Whether it counts code points or UTF-16 units is not
documented, so the larger number, UTF-16 units, is counted, and 60,000 of them are below the limit
either way; in UTF-8 they are at most 180,000 bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

LIMIT = 60_000

SHORTEST_ROOM = 600
"""What is kept free for every part that comes later, so that each can at least say where its
content is."""

Flexible = Callable[[int], str]
"""Markdown for so much room, as `size` counts; empty when it has nothing to say."""


def size(text: str) -> int:
    """Length as GitHub may count it: UTF-16 units, of which a code point has one or two."""
    return len(text) + sum(character > "\uffff" for character in text)


def compose(parts: Iterable[str | Flexible], limit: int = LIMIT) -> str:
    """The parts, an empty line between them, within the limit. Fixed parts come first to their
    room, then the others in their order.
    """
    given = [part for part in parts if part]
    room = limit - sum(size(part) for part in given if isinstance(part, str)) - 2 * len(given)
    waiting = sum(not isinstance(part, str) for part in given)
    shown: list[str] = []
    for part in given:
        if isinstance(part, str):
            shown.append(part)
            continue
        waiting -= 1
        text = part(max(0, room - waiting * SHORTEST_ROOM))
        room -= size(text)
        shown.append(text)
    return "\n\n".join(text.strip("\n") for text in shown if text.strip("\n")) + "\n"


def as_many(
    items: Sequence[Item],
    line: Callable[[Item], str],
    more: Callable[[int], str],
    *,
    before: str = "",
    after: str = "",
    most: int = 10_000,
) -> Flexible:
    """The items as lines between `before` and `after`, as many as fit into the room and into
    `most`; below them `more` counts the rest.

    Items that find no room are not written, so that a thousand cost no more than fifty.
    """

    def fitted(room: int) -> str:
        left = min(room, most) - size(before) - size(after) - size(more(len(items))) - 6
        shown: list[str] = []
        for item in items:
            written = line(item)
            left -= size(written) + 1
            if left < 0:
                break
            shown.append(written)
        rest = more(len(items) - len(shown)) if len(shown) < len(items) else ""
        if not shown:
            return rest if size(rest) <= room else ""
        body = before + "\n".join(shown) + after
        return f"{body}\n\n{rest}" if rest else body

    return fitted if items else lambda _room: ""


def shares(sizes: Sequence[int], room: int) -> tuple[int, ...]:
    """The room divided so that the small get all they need and the large the same of what is
    left.
    """
    given = [0] * len(sizes)
    left, waiting = max(room, 0), len(sizes)
    for place in sorted(range(len(sizes)), key=lambda place: sizes[place]):
        given[place] = min(sizes[place], left // waiting)
        left -= given[place]
        waiting -= 1
    return tuple(given)
