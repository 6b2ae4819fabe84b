"""Leave out of a file that a model asked for the lines that the conversation shows already."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import cast

from forge_bot.agent.capabilities import CapabilityResult, ResultStatus
from forge_bot.agent.models.base import ChatMessage

_READER = "read_file"
_LEAST_LINES = 8
"""Lines in a row below which repeating them is shorter than saying where they stand."""

_SHOWN = re.compile(
    r'^<untrusted-text source="([^",]+)(?:, (?:as it is now, )?lines (\d+))?[^"]*">\n(.*?)^</',
    re.DOTALL | re.MULTILINE,
)
_FIRST = re.compile(r"lines (\d+)-")
_GAP = re.compile(r"\[… lines \d+-(\d+) (?:are not shown here|stand above)")

Line = tuple[int, str]
"""The number of a line in its file, and its text."""


def without_lines_above(
    found: CapabilityResult, messages: Sequence[ChatMessage], before: Sequence[CapabilityResult]
) -> CapabilityResult:
    """Return a result without long runs of lines that an earlier message or result shows.

    Such a run has the same file, the same text and the same line numbers. It is replaced by its
    numbers.
    """
    if found.capability != _READER or found.status is not ResultStatus.OK:
        return found
    first = _FIRST.match(found.note)
    path = _path(found)
    shown = {line for at, text in _texts(path, messages, before) for line in _numbered(at, text)}
    if first is None or not shown:
        return found
    lines = [*_numbered(int(first[1]), found.content.removesuffix("\n"))]
    said = "\n".join(_said(lines, shown))
    return found.replace(content=f"{said}\n")


def _path(found: CapabilityResult) -> str:
    params = cast("dict[str, object]", json.loads(found.params))
    return str(params.get("path", ""))


def _texts(
    path: str, messages: Sequence[ChatMessage], before: Sequence[CapabilityResult]
) -> Iterator[tuple[int, str]]:
    """Yield what a conversation shows of a file, each with the number of its first line."""
    for message in messages:
        for name, first, text in _SHOWN.findall(message.text):
            if name == path:
                yield int(first or 1), text
    for item in before:
        if item.capability == _READER and item.status is ResultStatus.OK and _path(item) == path:
            first = _FIRST.match(item.note)
            yield int(first[1]) if first is not None else 1, item.content


def _numbered(first: int, text: str) -> Iterator[Line]:
    """Yield a text's lines with their numbers. The mark of omitted lines gives the next number."""
    number = first
    for line in text.split("\n"):
        gap = _GAP.match(line)
        if gap is not None:
            number = int(gap[1]) + 1
        else:
            yield number, line
            number += 1


def _said(lines: Sequence[Line], shown: Collection[Line]) -> Iterator[str]:
    """Yield the lines, and one line for each long run that is shown above."""
    for above, run in groupby(lines, key=shown.__contains__):
        same = [*run]
        if above and len(same) >= _LEAST_LINES:
            yield f"[… lines {same[0][0]}-{same[-1][0]} stand above …]"
        else:
            yield from (text for _, text in same)
