"""Merge, count and rank remarks that many runs repeat."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from posixpath import basename
from typing import NamedTuple

from forge_bot.knowledge.fingerprints import (
    ALIKE,
    ALIKE_IN_A_FILE,
    Fingerprint,
    fingerprint,
    same_file,
    stem,
)
from forge_bot.values import Severity

_MOST_COMPARED = 16
_MOST_HITS = 128
_MOST_WORDS = 24
_OFTEN = 2
_OFTEN_SHARE = 0.02
_MOST_OTHERS = 3
_WORDS_IN_COMMON = 2
_BADNESS = {severity: place for place, severity in enumerate(Severity)}


class Remark(NamedTuple):
    """One remark: its run, counted from the newest, its author, severity and words.

    The words are on one line. `person` is true for a person's remark.
    """

    run: int
    by: str
    severity: Severity
    text: str
    person: bool = False


class Theme(NamedTuple):
    """Remarks with the same meaning: newest wording, worst severity, number of runs.

    A theme also holds the newest run, the authors and the fingerprint.
    """

    text: str
    severity: Severity
    seen: int
    newest: int
    by: tuple[str, ...]
    fingerprint: Fingerprint
    person: bool


class ThemeWeight(NamedTuple):
    """The values by which themes are ordered."""

    person: bool
    seen: int
    words: int


class ThemeIndex(NamedTuple):
    """Themes by rank, with the ranks under each word and under each name of a file."""

    ranked: Sequence[Theme]
    weights: Sequence[ThemeWeight]
    everywhere: Sequence[int]
    by_word: Mapping[str, Sequence[int]]
    by_file: Mapping[str, Sequence[int]]


class Themes:
    """All remarks: those of people first, then the most frequent and most recent first."""

    def __init__(self, remarks: Iterable[Remark] | ThemeIndex) -> None:
        self.index = remarks if isinstance(remarks, ThemeIndex) else _indexed(remarks)

    def about(self, asked: Sequence[str], files: Sequence[str], limit: int) -> list[Theme]:
        """Return the themes about a task, then a few that are so frequent that they always apply.

        People's remarks come first, then those of the greatest weight: the frequency, times 3 on a
        file of the task, times 2 with its words. A theme shares the words when it has two of them,
        or all of its own. With equal weight the more frequent, then the newer one comes first. An
        empty query matches everything.
        """
        ranked, weights, everywhere, *_ = self.index
        if not asked and not files:
            return list(ranked[:limit])
        factors = dict.fromkeys(self._in_words(asked), 2)
        factors |= dict.fromkeys(self._in_files(files), 3)
        best = sorted(
            factors,
            key=lambda rank: (
                not weights[rank].person,
                -factors[rank] * weights[rank].seen,
                rank,
            ),
        )
        others = (rank for rank in everywhere if rank not in factors)
        chosen = islice((*best, *islice(others, _MOST_OTHERS)), limit)
        return [ranked[rank] for rank in chosen]

    def _in_words(self, asked: Sequence[str]) -> Iterator[int]:
        stems = {stem(word) for word in asked}
        known = {word: ranks for word in stems if (ranks := self.index.by_word.get(word))}
        rarest = sorted(known, key=lambda word: (len(known[word]), word))[:_MOST_WORDS]
        hits = Counter(rank for word in rarest for rank in islice(known[word], _MOST_HITS))
        for rank, count in hits.items():
            if count >= min(_WORDS_IN_COMMON, self.index.weights[rank].words):
                yield rank

    def _in_files(self, files: Sequence[str]) -> Iterator[int]:
        for path in files:
            for rank in islice(self.index.by_file.get(basename(path), ()), _MOST_HITS):
                if any(same_file(path, each) for each in self.index.ranked[rank].fingerprint.files):
                    yield rank


def _indexed(remarks: Iterable[Remark]) -> ThemeIndex:
    ordered = sorted(remarks, key=lambda remark: remark.run)
    themes = (_theme(group) for group in _merged(ordered))
    ranked = sorted(
        themes,
        key=lambda each: (
            not each.person,
            -each.seen,
            each.newest,
            _badness(each.severity),
            each.text,
        ),
    )
    often = max(_OFTEN, ordered[-1].run * _OFTEN_SHARE) if ordered else 0
    by_word: dict[str, list[int]] = {}
    by_file: dict[str, list[int]] = {}
    for rank, theme in enumerate(ranked):
        for word in theme.fingerprint.words:
            by_word.setdefault(word, []).append(rank)
        for name in {basename(path) for path in theme.fingerprint.files}:
            by_file.setdefault(name, []).append(rank)
    return ThemeIndex(
        ranked=ranked,
        weights=[
            ThemeWeight(each.person, each.seen, len(each.fingerprint.words)) for each in ranked
        ],
        everywhere=[rank for rank, theme in enumerate(ranked) if theme.seen >= often],
        by_word=by_word,
        by_file=by_file,
    )


class _Said(NamedTuple):
    remark: Remark
    print: Fingerprint


def _merged(remarks: Sequence[Remark]) -> list[list[_Said]]:
    """Group remarks, given newest first, that say the same as the group's first member.

    A remark is not compared with all others: only with groups under one of its own keys, the newest
    if there are many.
    """
    heard = (_Said(remark, fingerprint(remark.text)) for remark in remarks)
    everything = [said for said in heard if said.print.words or said.print.files]
    common = Counter(word for said in everything for word in said.print.words)
    groups: list[list[_Said]] = []
    exact: dict[Fingerprint, int] = {}
    under: dict[tuple[str, str], list[int]] = {}
    for said in everything:
        place = exact.get(said.print)
        if place is None:
            keys = _keys(said.print, common)
            near = {each for key in keys for each in islice(under.get(key, ()), _MOST_COMPARED)}
            place = next(
                (each for each in sorted(near) if groups[each][0].print.is_same_remark(said.print)),
                len(groups),
            )
            exact[said.print] = place
            if place == len(groups):
                groups.append([])
                for key in keys:
                    under.setdefault(key, []).append(place)
        groups[place].append(said)
    return groups


def _keys(print_: Fingerprint, common: Counter[str]) -> list[tuple[str, str]]:
    """Return keys for finding remarks that say the same.

    Two sets that share a part of their words share one of the rarest few words of each. With `n`
    words of which at least the part `t` is shared, these few are `n - ceil(t * n) + 1` (the prefix
    filter of similarity joins: Chaudhuri, Ganti, Kaushik, 2006). One more is added, since a word
    with a typing error is rarer than any other. Remarks on files also have the file's name as a
    key.
    """
    rarest = sorted(print_.words, key=lambda word: (common[word], word)) or [""]
    part = ALIKE_IN_A_FILE if print_.files or print_.unspaced else ALIKE
    few = rarest[: len(rarest) - math.ceil(part * len(rarest)) + 2]
    names = sorted({basename(path) for path in print_.files}) or [""]
    return [(name, word) for name in names for word in few]


def _theme(group: Sequence[_Said]) -> Theme:
    first = group[0]
    remarks = [said.remark for said in group]
    files = frozenset(path for said in group for path in said.print.files)
    return Theme(
        text=first.remark.text,
        severity=min((remark.severity for remark in remarks), key=_badness),
        seen=len({remark.run for remark in remarks}),
        newest=first.remark.run,
        by=tuple(
            by for by, _ in Counter(remark.by for remark in remarks if remark.by).most_common()
        ),
        fingerprint=first.print._replace(files=files),
        person=any(remark.person for remark in remarks),
    )


def _badness(severity: Severity) -> int:
    """Return the rank of a severity, 0 for the worst."""
    return _BADNESS[severity]
