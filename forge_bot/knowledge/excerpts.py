"""Show a file whole, or the parts of it that a text speaks of."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import NamedTuple

from forge_bot.knowledge.code_blocks import CodeBlock, code_blocks, is_long
from forge_bot.knowledge.file_parts import beginning_of
from forge_bot.knowledge.line_spans import Span, merged, not_in, size_of, written
from forge_bot.knowledge.wanted_places import WantedPlaces, places_by_worth

_WHOLE = 4_000
"""Characters up to which a file is shown whole. Unneeded text costs tokens in every call."""

_WHOLE_IF_FIRST = 10_000
"""The same for the file that a request is most likely about: looking up the rest costs a call."""

_LONGEST_KEPT = 500_000
"""Characters of a file whose definitions are kept: the next agent is often shown the same file."""

_MOST_BETWEEN = 15
_LEAST_LEFT = 4

_MEANT_BY_WORDS = {
    "boolean truthy falsy": ("__bool__", "__len__"),
    "compare comparison equal equality unequal": ("__eq__", "__ne__", "__lt__"),
    "contains containment membership": ("__contains__",),
    "copy copied copying deepcopy": ("__copy__", "__deepcopy__"),
    "descriptor": ("__get__", "__set__", "__set_name__"),
    "hash hashable hashing": ("__hash__", "__eq__"),
    "index indexed indexing slice sliced slicing subscript": ("__getitem__", "__setitem__"),
    "iterate iterated iterating iteration iterator iterable loop": (
        "__iter__",
        "__next__",
        "__aiter__",
        "__anext__",
    ),
    "manager": ("__enter__", "__exit__", "__aenter__", "__aexit__"),
    "pickle pickled pickling unpickle unpickled unpickling": (
        "__getstate__",
        "__setstate__",
        "__reduce__",
        "__reduce_ex__",
    ),
    "repr": ("__repr__",),
    "reversed": ("__reversed__",),
}
"""Words of requests, and the methods that Python calls for what they speak of.

Source: "Special method names" and "Coroutines" in Python's language reference
(https://docs.python.org/3/reference/datamodel.html), and "Pickling Class Instances" in its library.
"""

_MEANT_BY_SYNTAX = (
    (re.compile(r"^[^\S\n]*(?:>>> )?async for \w", re.MULTILINE), ("__aiter__", "__anext__")),
    (re.compile(r"^[^\S\n]*(?:>>> )?for \w[\w, ]* in \w", re.MULTILINE), ("__iter__", "__next__")),
    (re.compile(r"^[^\S\n]*(?:>>> )?async with \w", re.MULTILINE), ("__aenter__", "__aexit__")),
    (re.compile(r"^[^\S\n]*(?:>>> )?with \w", re.MULTILINE), ("__enter__", "__exit__")),
    (re.compile(r"[\w)]\[[^\]\n]*:[^\]\n]*\]"), ("__getitem__",)),
)


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
    """Return the part of a file that fits into `room` characters: a small file whole, else its
    wanted parts.

    Named lines come first, then the definitions of names, uses of the names, lines that share most
    words with the task, the beginning, and the end. Lines in `without` are shown elsewhere and left
    out.
    """
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    total = len(lines)
    everything = not_in(((1, total),), without) if total else ()
    whole = _WHOLE_IF_FIRST if wanted.first else _WHOLE
    if size_of(lines, everything) <= min(room, whole) and not (wanted.named_only and without):
        return Excerpt(written(lines, everything, ()), everything, total)
    blocks = (_kept_blocks if len(text) <= _LONGEST_KEPT else _blocks)(text)
    chosen: tuple[Span, ...] = ()
    for span in places_by_worth(lines, blocks, wanted, without):
        left = not_in((span,), (*without, *chosen))
        # What little is left of a part that is shown already tells nothing by itself.
        fresh = tuple(part for part in left if part == span or part[1] - part[0] >= _LEAST_LEFT)
        more = merged((*chosen, *fresh))
        if fresh and size_of(lines, more) <= room:
            chosen = more
    for gap in _gaps(chosen, without, beginning_of(lines)[0] - 1) if wanted.first else ():
        more = merged((*chosen, gap))
        if size_of(lines, more) <= room:
            chosen = more
    # What looks like a definition in a page is a word of a sentence.
    return Excerpt(written(lines, chosen, () if wanted.prose else blocks), chosen, total)


def _gaps(chosen: Sequence[Span], without: Sequence[Span], top: int) -> Iterator[Span]:
    """Yield the gaps between parts that are close, and before the first one, below the lines that
    end at `top`.

    The deciding lines are often beside the named ones, and to ask for them costs a call.
    """
    for (_, before), (after, _) in pairwise(((0, top), *sorted((*chosen, *without)))):
        if 0 < after - before - 1 <= _MOST_BETWEEN:
            yield before + 1, after - 1


def _blocks(text: str) -> tuple[CodeBlock, ...]:
    lines = text.removesuffix("\n").split("\n")
    return _without_stubs(lines, code_blocks(lines))


_kept_blocks = lru_cache(maxsize=16)(_blocks)


def _without_stubs(lines: Sequence[str], blocks: Sequence[CodeBlock]) -> tuple[CodeBlock, ...]:
    """Return the definitions without mere declarations of one of the same name (overloads). Those
    right above a definition are a part of it, as its type is, if that does not make it long.
    """
    stubs = {
        block for block in blocks if lines[block.last - 1].rstrip().endswith((" ...", "\t..."))
    }
    real = {block.name for block in blocks if block not in stubs}
    found: list[CodeBlock] = []
    first = 0
    for block, after in zip_longest(blocks, blocks[1:]):
        first = first or block.first
        declared = after is not None and (block.name, block.depth) == (after.name, after.depth)
        if block in stubs and declared:
            continue
        whole = block._replace(first=first)
        if block not in stubs or block.name not in real:
            found.append(block if is_long(whole) and not is_long(block) else whole)
        first = 0
    return tuple(found)


def special_methods(text: str, about: Sequence[str]) -> tuple[str, ...]:
    """Return the special methods that a text speaks of by its search words, or by code that makes
    Python call them.
    """
    return tuple(dict.fromkeys(_meant_methods(text, frozenset(about))))


def _meant_methods(text: str, about: frozenset[str]) -> Iterator[str]:
    for pattern, names in _MEANT_BY_SYNTAX:
        if pattern.search(text):
            yield from names
    for said, names in _MEANT_BY_WORDS.items():
        if not about.isdisjoint(said.split()):
            yield from names
