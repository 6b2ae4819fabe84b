"""Repeated findings of reviewers in past runs, and the reasons of people's rejections."""

from collections.abc import Iterator, Sequence
from itertools import chain

from forge_bot.knowledge.past_runs import PastRun
from forge_bot.knowledge.remarks import Remark, Theme, Themes
from forge_bot.knowledge.words import one_line
from forge_bot.values import Frozen, Severity

_MOST_PLACES = 5


class Pattern(Frozen):
    """A finding of reviewers in one or more runs, or the note of a person who rejected work."""

    text: str
    severity: Severity
    seen: int
    where: tuple[str, ...]
    by_person: bool = False


def finding_themes(runs: Sequence[PastRun]) -> Themes:
    """Return the findings of runs and the notes of people's rejections as searchable themes.

    The runs are given newest first.
    """
    return Themes(chain.from_iterable(_remarks(position, run) for position, run in enumerate(runs)))


def _remarks(position: int, run: PastRun) -> Iterator[Remark]:
    for gate, notes in run.rejections:
        if text := one_line(notes):
            yield Remark(position, gate, Severity.MAJOR, text, person=True)
    for by, finding in run.findings:
        if text := one_line(finding.description):
            yield Remark(position, by, finding.severity, text)


def pattern(theme: Theme) -> Pattern:
    """Return a theme for a prompt.

    `where` holds the files it names, then the phases or agents that found it.
    """
    places = (*sorted(theme.fingerprint.files), *(one_line(by) for by in theme.by))
    return Pattern(text=theme.text, severity=theme.severity, seen=theme.seen, where=places[:_MOST_PLACES], by_person=theme.person)
