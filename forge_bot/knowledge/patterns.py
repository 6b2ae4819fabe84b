"""What reviewers of earlier runs kept finding, and why people sent work back."""

from collections.abc import Iterator, Sequence
from itertools import chain

from forge_bot.knowledge.past_runs import PastRun
from forge_bot.knowledge.remarks import Remark, Theme, Themes
from forge_bot.knowledge.words import one_line
from forge_bot.values import Frozen, Severity

_MOST_PLACES = 5


class Pattern(Frozen):
    """A finding that reviewers made in one or more runs, or what a person said who sent work back."""

    text: str
    severity: Severity
    seen: int
    where: tuple[str, ...]
    by_person: bool = False


def finding_themes(runs: Sequence[PastRun]) -> Themes:
    """The findings of runs, given newest first, and the notes of people who rejected something there, ready to be asked."""
    return Themes(chain.from_iterable(_remarks(position, run) for position, run in enumerate(runs)))


def _remarks(position: int, run: PastRun) -> Iterator[Remark]:
    for gate, notes in run.rejections:
        if text := one_line(notes):
            yield Remark(position, gate, Severity.MAJOR, text, person=True)
    for by, finding in run.findings:
        if text := one_line(finding.description):
            yield Remark(position, by, finding.severity, text)


def pattern(theme: Theme) -> Pattern:
    """A theme for a prompt: `where` holds the files it names, then the phases or agents that found it."""
    places = (*sorted(theme.said.files), *(one_line(by) for by in theme.by))
    return Pattern(text=theme.text, severity=theme.severity, seen=theme.seen, where=places[:_MOST_PLACES], by_person=theme.person)
