"""Sort the requests of an Explore: those to look up, and those answered without looking, such as
those for lines that the agent has.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import cast

from forge_bot.agent import model_feedback
from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    ResultStatus,
    canonical,
    effect_key,
)
from forge_bot.agent.model_answers import Explore
from forge_bot.agent.models.base import ChatMessage
from forge_bot.agent.providers.provider_result import result_of
from forge_bot.values import Frozen

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


class SortedRequests(Frozen):
    """One turn's requests, sorted. The keys keep the order of the requests."""

    wanted: tuple[CapabilityRequest, ...]
    known: tuple[CapabilityResult, ...]
    notes: tuple[str, ...]


def sort_requests(
    asked: Explore,
    turn: int,
    before: Sequence[CapabilityResult],
    providers: Sequence[str],
    limit: int,
    running: Sequence[str] = (),
) -> SortedRequests:
    """Sort the requests of one turn, context before actions.

    The list that contains a request and its claimed type do not matter: the catalogue knows the
    names. Only requests that read are answered once; those named in `running` run again.
    """
    pairs = [(item.provider, item.params_json, item.reasoning) for item in asked.requests]
    pairs += [(item.capability, item.params_json, item.reasoning) for item in asked.actions]
    seen = {
        (item.capability, item.params): item.key
        for item in before
        if item.status is not ResultStatus.SKIPPED_DUPLICATE and item.capability not in running
    }
    wanted: list[CapabilityRequest] = []
    known: list[CapabilityResult] = []
    for index, (capability, params_json, reasoning) in enumerate(pairs[:limit], 1):
        params = canonical(params_json)
        item = CapabilityRequest(
            key=effect_key(turn, index, capability, params or params_json),
            capability=capability,
            params=params or params_json,
            reasoning=reasoning,
        )
        same = (item.capability, item.params)
        if (
            answer := _without_looking(item, params is None, seen.get(same), providers)
        ) is not None:
            known.append(answer)
        else:
            wanted.append(item)
        if capability not in running:
            seen.setdefault(same, item.key)
    return SortedRequests(
        wanted=tuple(wanted), known=tuple(known), notes=_left_out(len(pairs), limit)
    )


def _without_looking(
    item: CapabilityRequest, garbled: bool, first: str | None, providers: Sequence[str]
) -> CapabilityResult | None:
    if first is not None:
        return result_of(item, ResultStatus.SKIPPED_DUPLICATE, model_feedback.already_shown(first))
    if item.capability not in providers:
        offered = ", ".join(providers) or "none"
        return result_of(
            item,
            ResultStatus.UNKNOWN_CAPABILITY,
            f"There is no capability of that name. There are: {offered}.",
        )
    if garbled:
        return result_of(
            item, ResultStatus.INVALID_PARAMS, "The parameters are not the text of one JSON object."
        )
    return None


def _left_out(asked: int, limit: int) -> tuple[str, ...]:
    if asked <= limit:
        return ()
    return (
        (
            f"You asked for {asked} things; the first {limit} were looked up. Ask again for what"
            " you still need."
        ),
    )
