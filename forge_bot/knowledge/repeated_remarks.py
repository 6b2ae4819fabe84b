"""Merge, count and rank remarks that many runs repeat."""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from posixpath import basename
from typing import NamedTuple, Protocol, Self

from forge_bot.knowledge.fingerprints import (
    ALIKE,
    ALIKE_IN_A_FILE,
    MOST_MISTYPED,
    Fingerprint,
    fingerprint,
    same_file,
    stem,
)
from forge_bot.values import Severity

SAME, WORD, FILE = "same", "word", "file"
"""The kinds of keys that a theme is found under."""

_MOST_COMPARED = 32
_MOST_HITS = 128
_MOST_WORDS = 24
_OFTEN = 2
_OFTEN_SHARE = 0.02
_MOST_OTHERS = 3
_WORDS_IN_COMMON = 2
_BADNESS = {severity: place for place, severity in enumerate(Severity)}


class Remark(NamedTuple):
    """One remark: its run, counted from the oldest, its author, severity and words.

    The words are on one line. `person` is true for a person's remark.
    """

    run: int
    by: str
    severity: Severity
    text: str
    person: bool = False


class Theme(NamedTuple):
    """Remarks with the same meaning: newest wording, worst severity, number of runs.

    A theme also holds the newest run, the number of remarks by each author, all files it names, and
    the fingerprint of the first remark. The others were compared with that one.
    """

    text: str
    severity: Severity
    seen: int
    newest: int
    by: Mapping[str, int]
    files: frozenset[str]
    person: bool
    fingerprint: Fingerprint


class ThemeWeights:
    """The values by which themes are compared and ordered, by the number of the theme."""

    NAMES = ("person", "seen", "newest", "badness", "words", "filed")

    def __init__(self, columns: "Sequence[array[int]] | None" = None) -> None:
        self.columns = columns or [array("i") for _ in self.NAMES]
        self.person, self.seen, self.newest, self.badness, self.words, self.filed = self.columns

    def put(self, number: int, theme: Theme) -> None:
        """Set the values of one theme, which may be the next new one."""
        values = (
            int(theme.person),
            theme.seen,
            theme.newest,
            _BADNESS[theme.severity],
            len(theme.fingerprint.words),
            int(bool(theme.fingerprint.files)),
        )
        new = number == len(self.seen)
        for column, value in zip(self.columns, values, strict=True):
            if new:
                column.append(value)
            else:
                column[number] = value

    def cut(self, size: int) -> None:
        """Keep the values of the first themes only."""
        for column in self.columns:
            del column[size:]

    def order(self) -> "array[int]":
        """Return the themes by rank: people's first, then the most frequent and most recent."""
        # One number is compared sooner than four.
        ranks = [
            (((-person << 32) - seen << 32) - newest << 3) + badness
            for person, seen, newest, badness in zip(*self.columns[:4], strict=True)
        ]
        return array("i", sorted(range(len(ranks)), key=ranks.__getitem__))


class ThemeStore(Protocol):
    """The store of themes, with the numbers of the themes that have a word or name a file."""

    weights: ThemeWeights

    def theme(self, number: int) -> Theme:
        """Return a theme."""
        ...

    def put(self, number: int, theme: Theme) -> None:
        """Set a theme, which may be the next new one."""
        ...

    def under(self, kind: str, key: str) -> Sequence[int]:
        """Return the numbers under a key, ascending; none if there is no such key."""
        ...

    def add(self, kind: str, key: str, number: int) -> None:
        """Put a number under a key, unless it is there."""
        ...


class ThemesInMemory:
    """Themes of a history that is not kept."""

    def __init__(self) -> None:
        self.weights = ThemeWeights()
        self._themes: list[Theme] = []
        self._under: dict[tuple[str, str], list[int]] = {}

    def theme(self, number: int) -> Theme:
        """Return a theme."""
        return self._themes[number]

    def put(self, number: int, theme: Theme) -> None:
        """Set a theme, which may be the next new one."""
        self.weights.put(number, theme)
        self._themes[number : number + 1] = [theme]

    def under(self, kind: str, key: str) -> Sequence[int]:
        """Return the numbers under a key, ascending; none if there is no such key."""
        return self._under.get((kind, key), ())

    def add(self, kind: str, key: str, number: int) -> None:
        """Put a number under a key, unless it is there."""
        insert_once(self._under.setdefault((kind, key), []), number)


class Themes:
    """All remarks: those of people first, then the most frequent and most recent first.

    Remarks are added run by run, the oldest first. The theme of a remark depends on earlier remarks
    only, so a later remark never moves an earlier one.
    """

    def __init__(self, store: ThemeStore, runs: int, order: "array[int] | None" = None) -> None:
        self.store, self._often = store, max(_OFTEN, runs * _OFTEN_SHARE)
        self._order = order

    @classmethod
    def of(cls, remarks: Sequence[Remark], runs: int) -> Self:
        """Return the themes of remarks, given from the oldest of so many runs to the newest."""
        themes = cls(ThemesInMemory(), runs)
        for remark in remarks:
            themes.add(remark)
        return themes

    def add(self, remark: Remark, print_: Fingerprint | None = None) -> int | None:
        """Add a remark, with its fingerprint if that is known, and return the number of its theme;
        None if it says nothing.
        """
        print_ = print_ or fingerprint(remark.text)
        if not print_.words and not print_.files:
            return None
        number = self._same(print_)
        if number is None:
            number, theme = len(self.store.weights.seen), _first(remark, print_)
        else:
            theme = _joined(self.store.theme(number), remark, print_)
        for kind, key in theme_keys(theme):
            self.store.add(kind, key, number)
        self.store.put(number, theme)
        return number

    def _same(self, print_: Fingerprint) -> int | None:
        """Return the theme with the meaning of a remark.

        A remark is not compared with all themes: only with the newest under some of its words. Two
        sets that share a part of their words share one of any few words of each. With `n` words of
        which at least the part `t` is shared, these few are `n - ceil(t * n) + 1` (the prefix
        filter of similarity joins: Chaudhuri, Ganti, Kaushik, 2006); the rarest have the fewest
        themes. One more is added, since a word with a typing error is rarer than any other. Remarks
        on files are compared with those on files of the same name.
        """
        if same := self.store.under(SAME, _exactly(print_)):
            return same[0]
        return next(
            (
                number
                for number in sorted(self._near(print_))
                if self.store.theme(number).fingerprint.is_same_remark(print_)
            ),
            None,
        )

    def _near(self, print_: Fingerprint) -> Iterator[int]:
        """Yield the themes with as many of the rarest words as themes of the same meaning have."""
        held = {word: self.store.under(WORD, word) for word in print_.words or ("",)}
        rarest = sorted(held, key=lambda word: (len(held[word]), word))
        part = ALIKE_IN_A_FILE if print_.files or print_.unspaced else ALIKE
        lacking = len(rarest) - math.ceil(part * len(rarest))
        few = rarest[: lacking + 2]
        least = 1 if print_.unspaced else len(few) - max(lacking, MOST_MISTYPED)
        names = {basename(path) for path in print_.files}
        on_files = {number for name in names for number in self.store.under(FILE, name)}
        filed = self.store.weights.filed
        hits: dict[int, int] = {}
        for word in few:
            left = _MOST_COMPARED
            for number in reversed(held[word]):
                if number in on_files if names else not filed[number]:
                    hits[number] = hits.get(number, 0) + 1
                    left -= 1
                    if not left:
                        break
        return (number for number, count in hits.items() if count >= least)

    def about(self, asked: Sequence[str], files: Sequence[str], limit: int) -> list[Theme]:
        """Return the themes about a task, then a few that are so frequent that they always apply.

        People's remarks come first, then those of the greatest weight: the frequency, times 3 on a
        file of the task, times 2 with its words. A theme shares the words when it has two of them,
        or all of its own. With equal weight the more frequent, then the newer one comes first. An
        empty query matches everything.
        """
        if not asked and not files:
            return [self.store.theme(number) for number in self.order[:limit]]
        person, seen, rank = self.store.weights.person, self.store.weights.seen, self._ranks
        factors = dict.fromkeys(self._in_words(asked), 2)
        factors |= dict.fromkeys(self._in_files(files), 3)
        best = sorted(
            factors,
            key=lambda number: (not person[number], -factors[number] * seen[number], rank[number]),
        )
        others = (number for number in self._everywhere() if number not in factors)
        chosen = islice((*best, *islice(others, _MOST_OTHERS)), max(limit, 0))
        return [self.store.theme(number) for number in chosen]

    @property
    def order(self) -> "array[int]":
        """The numbers of the themes by rank."""
        if self._order is None:
            self._order = self.store.weights.order()
        return self._order

    @cached_property
    def _ranks(self) -> "array[int]":
        ranks = array("i", bytes(self.order.itemsize * len(self.order)))
        for rank, number in enumerate(self.order):
            ranks[number] = rank
        return ranks

    def _everywhere(self) -> Iterator[int]:
        weights = self.store.weights
        for number in self.order:
            if weights.seen[number] >= self._often:
                yield number
            elif not weights.person[number]:
                # The rest of the order is seen less often still.
                return

    def _best_under(self, numbers: Sequence[int]) -> Sequence[int]:
        if len(numbers) <= _MOST_HITS:
            return numbers
        return sorted(numbers, key=self._ranks.__getitem__)[:_MOST_HITS]

    def _in_words(self, asked: Sequence[str]) -> Iterator[int]:
        stems = {stem(word) for word in asked}
        known = {word: held for word in stems if (held := self.store.under(WORD, word))}
        rarest = sorted(known, key=lambda word: (len(known[word]), word))[:_MOST_WORDS]
        hits = Counter(number for word in rarest for number in self._best_under(known[word]))
        for number, count in hits.items():
            if count >= min(_WORDS_IN_COMMON, self.store.weights.words[number]):
                yield number

    def _in_files(self, files: Sequence[str]) -> Iterator[int]:
        for path in files:
            for number in self._best_under(self.store.under(FILE, basename(path))):
                if any(same_file(path, each) for each in self.store.theme(number).files):
                    yield number


def theme_keys(theme: Theme) -> Iterator[tuple[str, str]]:
    """Yield the keys that a theme is found under, each with its kind."""
    print_ = theme.fingerprint
    yield SAME, _exactly(print_)
    yield from ((WORD, word) for word in sorted(print_.words) or ("",))
    yield from ((FILE, name) for name in sorted({basename(path) for path in theme.files}))


def _exactly(print_: Fingerprint) -> str:
    """Return a key that only equal fingerprints have."""
    words, names, files, unspaced = print_
    told = repr((sorted(words), sorted(names), sorted(files), unspaced))
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _first(remark: Remark, print_: Fingerprint) -> Theme:
    by = {remark.by: 1} if remark.by else {}
    return Theme(
        remark.text, remark.severity, 1, remark.run, by, print_.files, remark.person, print_
    )


def _joined(theme: Theme, remark: Remark, print_: Fingerprint) -> Theme:
    again = remark.run == theme.newest
    by = {**theme.by, remark.by: theme.by.get(remark.by, 0) + 1} if remark.by else theme.by
    return theme._replace(
        text=theme.text if again else remark.text,
        severity=min(theme.severity, remark.severity, key=_BADNESS.__getitem__),
        seen=theme.seen + (not again),
        newest=remark.run,
        by=by,
        files=theme.files | print_.files,
        person=theme.person or remark.person,
    )


def insert_once(numbers: "MutableSequence[int]", number: int) -> bool:
    """Put a number in its place among ascending ones; return whether it was not there."""
    place = bisect_left(numbers, number)
    if place < len(numbers) and numbers[place] == number:
        return False
    numbers.insert(place, number)
    return True
