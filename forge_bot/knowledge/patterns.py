"""What reviewers of earlier runs kept finding."""

from collections.abc import Sequence

from forge_bot.engine.values import Frozen, Severity
from forge_bot.knowledge.past_runs import PastRun
from forge_bot.knowledge.remarks import Remark, Theme, Themes
from forge_bot.knowledge.words import one_line

_MOST_PLACES = 5


class Pattern(Frozen):
    """A finding that reviewers made in one or more runs."""

    text: str
    severity: Severity
    seen: int
    where: tuple[str, ...]


def finding_themes(runs: Sequence[PastRun]) -> Themes:
    """The findings of runs, given newest first, ready to be asked."""
    return Themes(
        Remark(position, by, finding.severity, text)
        for position, run in enumerate(runs)
        for by, finding in run.findings
        if (text := one_line(finding.description))
    )


def pattern(theme: Theme) -> Pattern:
    """A theme for a prompt: `where` holds the files it names, then the phases or agents that found it."""
    places = (*sorted(theme.said.files), *(one_line(by) for by in theme.by))
    return Pattern(text=theme.text, severity=theme.severity, seen=theme.seen, where=places[:_MOST_PLACES])
