"""Exchanges with a model as a file, for recorders, replayers and hand-written scripts.

A record is JSON lines (`.jsonl`), a script may also be YAML: a list of the same mappings.
docs/models.md describes them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, cast

import yaml
from pydantic import ConfigDict, Field, ValidationError

from forge_bot.agent.models.base import FinishReason, ReplayKey
from forge_bot.errors import BadRecord
from forge_bot.values import Frozen, Usage

ANY = "*"


class Exchange(Frozen):
    """One answer, and its question.

    A part of the key that is `*` or left out matches every question.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    agent: str = ANY
    phase: str = ANY
    round: str = ANY
    kind: str = Field(default=ANY, alias="schema")
    prompt_sha256: str = ""
    answer: str | dict[str, Any] = Field(
        default="", description="the raw text of the reply, or the answer as data"
    )
    finish: FinishReason = FinishReason.STOP
    usage: Usage = Usage()
    unavailable: str = Field(
        default="", description="instead of answering, fail with this sentence"
    )

    @property
    def key(self) -> ReplayKey:
        """The key of the question that this answers."""
        return ReplayKey(self.agent, self.phase, self.round, self.kind)

    @property
    def text(self) -> str:
        """Return the reply as a model would have written it."""
        return (
            self.answer
            if isinstance(self.answer, str)
            else json.dumps(self.answer, ensure_ascii=False)
        )

    def fits(self, key: ReplayKey) -> int | None:
        """Return how many parts of the key are named and equal, or None if a named one differs."""
        pairs = list(zip(self.key, key, strict=True))
        if any(said not in {ANY, asked} for said, asked in pairs):
            return None
        return sum(said != ANY for said, _ in pairs)


class Exchanges(tuple[Exchange, ...]):
    """The exchanges of one file, in its order."""

    __slots__ = ()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return all exchanges in `path`. Raises BadRecord with the place of the first error."""
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise BadRecord(f"{path} cannot be read: {error}.") from error
        found = _lines(text, path) if path.suffix == ".jsonl" else _items(text, path)
        try:
            return cls(Exchange.model_validate(item) for item in found.values())
        except ValidationError:
            raise _first_fault(found, path) from None

    def best(self, key: ReplayKey) -> Exchange | None:
        """Return the exchange that names the most parts of the key.

        Among equals the last one wins, so a record can be corrected by adding to it.
        """
        fitting = [
            (fit, place) for place, item in enumerate(self) if (fit := item.fits(key)) is not None
        ]
        return self[max(fitting)[1]] if fitting else None

    def listed(self, most: int = 12) -> tuple[str, ...]:
        """Return the keys, for people."""
        keys = [str(item.key) for item in self]
        return (
            tuple(keys[:most])
            if len(keys) <= most
            else (*keys[:most], f"… {len(keys) - most} more")
        )


def _lines(text: str, path: Path) -> Mapping[str, object]:
    found: dict[str, object] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found[f"line {number}"] = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                break  # a recorder died while writing the last line
            raise BadRecord(f"{path}, line {number} is not JSON: {error}.") from error
    return found


def _items(text: str, path: Path) -> Mapping[str, object]:
    try:
        value: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadRecord(f"{path} is not YAML: {error}.") from error
    if not isinstance(value, list):
        raise BadRecord(f"{path} is not a list of exchanges.")
    return {f"item {number}": item for number, item in enumerate(cast("list[object]", value), 1)}


def _first_fault(found: Mapping[str, object], path: Path) -> BadRecord:
    for place, item in found.items():
        try:
            Exchange.model_validate(item)
        except ValidationError as error:
            first = error.errors()[0]
            return BadRecord(
                f"{path}, {place}: {'.'.join(str(part) for part in first['loc'])}: {first['msg']}."
            )
    raise AssertionError("called for a file without a fault")
