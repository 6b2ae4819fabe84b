"""JSON from outside, read without trust: a missing value, or one of another type, is empty."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

_LARGEST_ID = 2**53
"""Ids above this are no ids of a forge, and JSON would not carry them unharmed."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value in JSON, of whatever type it turns out to be."""

    value: object = None

    @property
    def exists(self) -> bool:
        """Return whether there is anything here but null."""
        return self.value is not None

    def __getitem__(self, key: str) -> "Node":
        fields = cast("dict[str, object]", self.value)
        return Node(fields.get(key)) if isinstance(self.value, dict) else Node()

    def at(self, *keys: str) -> "Node":
        """The value that the keys lead to, one after the other."""
        node = self
        for key in keys:
            node = node[key]
        return node

    def text(self, *keys: str) -> str:
        """The string there; empty for everything else."""
        value = self.at(*keys).value
        return value if isinstance(value, str) else ""

    def number(self, *keys: str) -> int | None:
        """The whole number above nothing there, as ids are; a boolean is none."""
        value = self.at(*keys).value
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value if 0 < value < _LARGEST_ID else None

    def true(self, *keys: str) -> bool:
        """Return whether the value is exactly `true`."""
        return self.at(*keys).value is True

    def items(self, *keys: str) -> "Iterator[Node]":
        """The values of the list there; none where there is no list."""
        value = self.at(*keys).value
        return map(Node, cast("list[object]", value) if isinstance(value, list) else ())


def read_json(data: bytes) -> Node:
    """Return the JSON in these bytes; an empty node for other bytes and JSON nested too deep."""
    try:
        return Node(json.loads(data))
    except (ValueError, RecursionError):
        return Node()
