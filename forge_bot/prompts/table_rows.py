"""Split a table row into cells with the place of each character, as markdown-it does.

Source: GFM specification, 4.10.
"""

from itertools import pairwise
from typing import NamedTuple

from markdown_it.common.utils import mdTrim


class Cell(NamedTuple):
    """The text between two pipes and the offset of each character.

    An escaped pipe in the source is one pipe in the text.
    """

    text: str
    places: list[int]
    start: int
    end: int


NO_CELL = Cell("", [], 0, 0)


def read_row(source: str, start: int, end: int) -> list[Cell]:
    """Return the cells of the row between two offsets of the source."""
    row = mdTrim(source[start:end])
    start = source.find(row, start)
    pipes = [
        index for index, char in enumerate(row) if char == "|" and row[index - 1 : index] != "\\"
    ]
    edges = [-1, *pipes, len(row)]
    bounds = [(left + 1, right) for left, right in pairwise(edges)]
    if bounds and bounds[0][0] == bounds[0][1]:
        del bounds[0]
    if bounds and bounds[-1][0] == bounds[-1][1]:
        del bounds[-1]
    return [_cell(row, left, right, start) for left, right in bounds]


def _cell(row: str, left: int, right: int, start: int) -> Cell:
    kept = [
        index
        for index in range(left, right)
        if not (row[index] == "\\" and row[index + 1 : index + 2] == "|" and index + 1 < right)
    ]
    return Cell(
        "".join(row[index] for index in kept),
        [start + index for index in kept],
        start + left,
        start + right,
    )
