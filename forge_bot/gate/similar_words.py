"""Words that are nearly another word."""

from collections.abc import Iterable

_SHORT = 6
"""Letters of a word up to which one slip is all that is forgiven: `/review` and `/revise` are two
commands of two programs."""


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the known word that was probably meant: it begins with the same letter and differs by
    one typing error, by two for long words.
    """
    best: tuple[int, str] | None = None
    for candidate in words:
        forgiven = 1 if len(candidate) <= _SHORT else 2
        if (
            len(candidate) <= len("ask")
            or candidate[0] != word[:1]
            or abs(len(candidate) - len(word)) > forgiven
        ):
            continue
        slips = distance(word, candidate)
        if 0 < slips <= forgiven and (best is None or slips < best[0]):
            best = (slips, candidate)
    return None if best is None else best[1]


def distance(one: str, other: str) -> int:
    """Return the number of letters added, left out, replaced, or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        above, before, row = before, row, [i]
        for j, meant in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != meant))
            if above and j > 1 and letter == other[j - 2] and one[i - 2] == meant:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]
