"""Find a passage in a text: every exact occurrence, or the most similar place."""

import re
from collections import Counter
from difflib import SequenceMatcher
from heapq import nlargest

from forge_bot.values import Frozen

_WORD = re.compile(r"\w+|[^\w\s]")
# Comparing characters is slow, so only the windows that share most words are compared, up to this
# length.
_WINDOWS = 5
_COMPARED = 3_000
_LEAST_ALIKE = 0.4
_SHOWN_LINES = 40


class Region(Frozen):
    """Some lines of a text and their similarity to the passage, from 0 to 1."""

    first: int
    last: int
    text: str
    alike: float
    start: int


def occurrences(text: str, passage: str) -> tuple[int, ...]:
    """Return every position of the passage.

    Overlapping ones are included, since they are just as ambiguous.
    """
    found: list[int] = []
    at = text.find(passage) if passage else -1
    while at >= 0:
        found.append(at)
        at = text.find(passage, at + 1)
    return tuple(found)


def line_of(text: str, position: int) -> int:
    """Return the number of the line at a position, from 1."""
    return text.count("\n", 0, position) + 1


def similarity(one: str, other: str) -> float:
    """Return the similarity of two texts from 0 to 1, without surrounding blanks."""
    return SequenceMatcher(
        None, one.strip()[:_COMPARED], other.strip()[:_COMPARED], autojunk=False
    ).ratio()


def closest(text: str, passage: str) -> Region | None:
    """Return the lines most like the passage, as many as it has; None if nothing resembles it."""
    lines = text.split("\n")
    size = max(1, min(len(passage.strip("\n").split("\n")), len(lines)))
    best = max(
        (_region(lines, first, size, passage) for first in _promising(lines, size, passage)),
        key=lambda r: r.alike,
        default=None,
    )
    return best if best and best.alike >= _LEAST_ALIKE else None


def shown_lines(region: Region) -> str:
    """Return the lines of a region, up to a useful number."""
    lines = region.text.split("\n")
    return "\n".join(lines if len(lines) <= _SHOWN_LINES else [*lines[:_SHOWN_LINES], "[…]"])


def _region(lines: list[str], first: int, size: int, passage: str) -> Region:
    window = "\n".join(lines[first : first + size])
    start = sum(len(line) + 1 for line in lines[:first])
    return Region(
        first=first + 1,
        last=first + size,
        text=window,
        alike=similarity(passage, window),
        start=start,
    )


def _promising(lines: list[str], size: int, passage: str) -> list[int]:
    """Return the first lines of the windows that share most words with the passage."""
    goal = Counter(_WORD.findall(passage))
    shared = [Counter(word for word in _WORD.findall(line) if word in goal) for line in lines]
    window = sum(shared[:size], Counter[str]())
    scores: list[tuple[int, int]] = []
    for first in range(len(lines) - size + 1):
        if first:
            window.subtract(shared[first - 1])
            window.update(shared[first + size - 1])
        scores.append((sum(min(window[word], wanted) for word, wanted in goal.items()), -first))
    return [-place for score, place in nlargest(_WINDOWS, scores) if score]
