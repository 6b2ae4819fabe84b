"""Leave out of a file that a model asked for the lines that the conversation shows already."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import cast

from forge_bot.agent.capabilities import CapabilityResult, ResultStatus
from forge_bot.agent.models.base import ChatMessage

_READER = "read_file"
_LEAST_LINES = 8
"""Lines in a row below which repeating them is shorter than saying where they stand."""

_SHOWN = re.compile(r'^<untrusted-text source="([^",]+)[^"]*">\n(.*?)^</', re.DOTALL | re.MULTILINE)
_FIRST = re.compile(r"lines (\d+)-")


def without_lines_above(
    found: CapabilityResult, messages: Sequence[ChatMessage], before: Sequence[CapabilityResult]
) -> CapabilityResult:
    """Return a result in which each long run of lines that an earlier message or result shows of
    the same file, letter by letter, is replaced by its numbers.
    """
    if found.capability != _READER or found.status is not ResultStatus.OK:
        return found
    first = _FIRST.match(found.note)
    path = _path(found)
    shown = [text.split("\n") for text in _texts(path, messages, before)]
    if first is None or not shown:
        return found
    lines = found.content.removesuffix("\n").split("\n")
    said = "\n".join(_said(lines, shown, int(first[1])))
    return found.model_copy(update={"content": f"{said}\n"})


def _path(found: CapabilityResult) -> str:
    params = cast("dict[str, object]", json.loads(found.params))
    return str(params.get("path", ""))


def _texts(
    path: str, messages: Sequence[ChatMessage], before: Sequence[CapabilityResult]
) -> Iterator[str]:
    """Yield what a conversation shows of a file."""
    for message in messages:
        yield from (text for name, text in _SHOWN.findall(message.text) if name == path)
    for item in before:
        if item.capability == _READER and item.status is ResultStatus.OK and _path(item) == path:
            yield item.content


def _said(lines: Sequence[str], shown: Sequence[Sequence[str]], first: int) -> Iterator[str]:
    # Of equal runs the first counts.
    runs = {run: (text, at) for text in reversed(shown) for at, run in _runs(text)}
    at = 0
    while at < len(lines):
        found = runs.get(tuple(lines[at : at + _LEAST_LINES]))
        if found is None:
            yield lines[at]
            at += 1
        else:
            count = _alike(lines, at, *found)
            yield f"[… lines {first + at}-{first + at + count - 1} stand above …]"
            at += count


def _runs(text: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    for at in range(len(text) - _LEAST_LINES, -1, -1):
        yield at, tuple(text[at : at + _LEAST_LINES])


def _alike(lines: Sequence[str], at: int, text: Sequence[str], place: int) -> int:
    """Return how many lines are the same from these places on."""
    most = min(len(lines) - at, len(text) - place)
    return next((n for n in range(most) if lines[at + n] != text[place + n]), most)
