"""Group remarks of the same words, and choose those about a task."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from forge_bot.project.search_words import words
from forge_bot.values import Severity

_PATH = re.compile(
    r"(?<![\w/.-])(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w(/.-]|\.\w)"
)
_WORD = re.compile(r"\w+")
_BADNESS = {severity: place for place, severity in enumerate(Severity)}
_OFTEN = 2
_OFTEN_SHARE = 0.02
_MOST_OTHERS = 3
_WORDS_IN_COMMON = 2


class Remark(NamedTuple):
    """One remark on one line. Its run is counted from the oldest; `person` is true for a person's
    remark.
    """

    run: int
    by: str
    severity: Severity
    text: str
    person: bool = False


class Theme(NamedTuple):
    """Remarks of the same words: newest wording, worst severity, number of runs, the newest run,
    the authors with the most frequent first, and all files that are named.
    """

    text: str
    severity: Severity
    seen: int
    newest: int
    by: tuple[str, ...]
    files: frozenset[str]
    person: bool
    words: frozenset[str]


def grouped(remarks: Iterable[Remark]) -> list[Theme]:
    """Return the themes of remarks, given from the oldest to the newest: those of people first,
    then the most frequent, the newest and the worst.
    """
    groups: dict[tuple[str, ...], list[Remark]] = {}
    for remark in remarks:
        if key := tuple(_WORD.findall(remark.text.casefold())):
            groups.setdefault(key, []).append(remark)
    return sorted(
        map(_theme, groups.values()),
        key=lambda theme: (not theme.person, -theme.seen, -theme.newest, _BADNESS[theme.severity]),
    )


def _theme(group: Sequence[Remark]) -> Theme:
    authors = [remark.by for remark in group if remark.by]
    return Theme(
        # A run repeats a remark in every round; the first wording of the newest run is shown.
        text=next(remark.text for remark in group if remark.run == group[-1].run),
        severity=min((remark.severity for remark in group), key=_BADNESS.__getitem__),
        seen=len({remark.run for remark in group}),
        newest=group[-1].run,
        by=tuple(sorted(dict.fromkeys(authors), key=lambda name: -authors.count(name))),
        files=frozenset(path for remark in group for path in _files_in(remark.text)),
        person=any(remark.person for remark in group),
        words=frozenset(words(group[0].text)),
    )


def about(
    themes: Sequence[Theme], runs: int, asked: Collection[str], files: Sequence[str], limit: int
) -> list[Theme]:
    """Return the themes about a task, of those of so many runs, then a few that are so frequent
    that they always apply.

    People's remarks come first, then those of the greatest weight: the frequency, times 3 on a
    file of the task, times 2 with its words. A theme shares the words when it has two of them, or
    all of its own. An empty query matches everything.
    """
    if not asked and not files:
        return list(themes[:limit])
    wanted = frozenset(asked)
    factors = [_factor(theme, wanted, files) for theme in themes]
    pairs = [(theme, factor) for theme, factor in zip(themes, factors, strict=True) if factor]
    pairs.sort(key=lambda pair: (not pair[0].person, -pair[1] * pair[0].seen))
    often = max(_OFTEN, runs * _OFTEN_SHARE)
    others = (
        theme
        for theme, factor in zip(themes, factors, strict=True)
        if not factor and theme.seen >= often
    )
    return [*(theme for theme, _ in pairs), *list(others)[:_MOST_OTHERS]][:limit]


def _factor(theme: Theme, wanted: frozenset[str], files: Sequence[str]) -> int:
    if any(_same_file(path, named) for path in files for named in theme.files):
        return 3
    shared = len(theme.words & wanted)
    return 2 if shared and shared >= min(_WORDS_IN_COMMON, len(theme.words)) else 0


def _files_in(text: str) -> Iterable[str]:
    """Return the names of files with an ending, with their folders as far as these are written."""
    return (match[0].removeprefix("./") for match in _PATH.finditer(text))


def _same_file(one: str, other: str) -> bool:
    """Return whether two paths can mean the same file: one may omit the first folders."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")
