"""Themes in the database of an index: read one by one, changed run by run, and changed back."""

import json
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from posixpath import basename
from typing import Any

from forge_bot.knowledge.fingerprints import Fingerprint
from forge_bot.knowledge.kept_postings import Database, Postings
from forge_bot.knowledge.repeated_remarks import FILE, SAME, WORD, Theme, ThemeWeights, theme_keys
from forge_bot.values import Severity

FINDINGS, STUCK = "findings", "stuck"
_ORDER = "order of "


class KeptThemes:
    """The themes of one part. The changes by a run can be undone with that run's findings."""

    def __init__(self, database: Database, part: str) -> None:
        self._database, self._part = database, part
        self._columns = [f"{name} of {part}" for name in ThemeWeights.NAMES]
        self.weights = ThemeWeights([database.column(name) for name in self._columns])
        self._under = {kind: Postings(database, f"{part}, {kind}") for kind in (SAME, WORD, FILE)}
        self._known: dict[int, Theme] = {}
        self._changed: set[int] = set()
        self._size = 0
        self._before: dict[int, str] = {}

    @cached_property
    def kept_order(self) -> "array[int]":
        """The numbers of the themes by rank, as they were kept."""
        return self._database.column(_ORDER + self._part)

    def theme(self, number: int) -> Theme:
        """Return a theme."""
        if number not in self._known:
            query = "SELECT print, told FROM themes WHERE part = ? AND number = ?"
            print_, told = self._database.row(query, self._part, number)
            self._known[number] = _theme(_print(json.loads(print_)), told)
        return self._known[number]

    def put(self, number: int, theme: Theme) -> None:
        """Set a theme, which may be the next new one."""
        if number < self._size and number not in self._before:
            self._before[number] = _told(self.theme(number))
        self._put(number, theme)

    def _put(self, number: int, theme: Theme) -> None:
        self.weights.put(number, theme)
        self._known[number] = theme
        self._changed.add(number)

    def under(self, kind: str, key: str) -> Sequence[int]:
        """Return the numbers under a key, ascending; none if there is no such key."""
        return self._under[kind].numbers(key)

    def add(self, kind: str, key: str, number: int) -> None:
        """Put a number under a key, unless it is there."""
        self._under[kind].add(key, number)

    def begin(self) -> None:
        """Note that a run follows."""
        self._size, self._before = len(self.weights.seen), {}

    def found(self) -> list[object]:
        """Return the state before the run: the number of themes, and those that it changed."""
        return [self._size, self._before]

    def take_back(self, found: Sequence[Any]) -> None:
        """Restore the themes from before the newest run, by the findings of that run."""
        size: int = found[0]
        before: Mapping[str, str] = found[1]
        for number in range(size, len(self.weights.seen)):
            for kind, key in theme_keys(self.theme(number)):
                self._under[kind].cut(key, size)
            del self._known[number]
            self._changed.discard(number)
        self.weights.cut(size)
        for number, told in before.items():
            now = self.theme(int(number))
            then = _theme(now.fingerprint, told)
            for name in _names(now) - _names(then):
                self._under[FILE].drop(name, int(number))
            self._put(int(number), then)

    def save(self) -> None:
        """Store the changes."""
        size = len(self.weights.seen)
        query = "DELETE FROM themes WHERE part = ? AND number >= ?"
        self._database.rows(query, self._part, size)
        self.rest()
        for postings in self._under.values():
            postings.save()
        for name, column in zip(self._columns, self.weights.columns, strict=True):
            self._database.put_column(name, column)
        self._database.put_column(_ORDER + self._part, self.weights.order())

    def rest(self) -> None:
        """Put the themes themselves away, which take most of the memory."""
        changed = ((number, self._known[number]) for number in sorted(self._changed))
        self._database.change(
            "REPLACE INTO themes VALUES (?, ?, ?, ?)",
            (
                (self._part, number, _print_told(theme.fingerprint), _told(theme))
                for number, theme in changed
            ),
        )
        self._changed.clear()
        self._known.clear()


def _names(theme: Theme) -> set[str]:
    return {basename(path) for path in theme.files}


def _print_told(print_: Fingerprint) -> str:
    words, names, files, unspaced = print_
    return json.dumps([sorted(words), sorted(names), sorted(files), unspaced])


def _print(told: Sequence[Any]) -> Fingerprint:
    words, names, files, unspaced = told
    return Fingerprint(frozenset(words), frozenset(names), frozenset(files), unspaced)


def _told(theme: Theme) -> str:
    """Return all of a theme but its fingerprint, which never changes."""
    return json.dumps([*theme[:-1]], default=sorted)


def _theme(print_: Fingerprint, told: str) -> Theme:
    text, severity, seen, newest, by, files, person = json.loads(told)
    return Theme(text, Severity(severity), seen, newest, by, frozenset(files), person, print_)
