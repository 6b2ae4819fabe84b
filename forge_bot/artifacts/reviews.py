"""Judge a review: its verdict counts only if its findings and its table of requirements agree."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forge_bot.artifacts.findings import read_findings
from forge_bot.artifacts.requirement_table import met, read_requirements
from forge_bot.artifacts.verdicts import read_verdict
from forge_bot.values import Finding, Frozen, Severity, Verdict

_HEAVY = (Severity.CRITICAL, Severity.MAJOR)
_STOPS = {
    Verdict.APPROVE: _HEAVY[:1],
    Verdict.APPROVE_WITH_NOTES: _HEAVY[:1],
    Verdict.PASS: _HEAVY,
    Verdict.PASS_WITH_NOTES: _HEAVY,
}
"""The findings beside which an approval does not count."""


class AnswersFor(Frozen):
    """The numbered requirements that a review answers for. `table` says that it has to name each
    of them in its table. `persons` are those that people approved with.
    """

    ids: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()
    table: bool = False


class Judged(NamedTuple):
    """The verdict of a review, its findings, and what keeps an approval from counting."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    contradictions: tuple[str, ...] = ()


def judge_review(
    markdown: str, allowed: Sequence[Verdict], answers_for: AnswersFor | None = None
) -> Judged:
    """Return what a review says. Its verdict is unreadable if it passes work, with or without
    notes, that has a CRITICAL or MAJOR finding, or a requirement that is not met.

    One of the two is then a mistake, and the text does not show which. An APPROVE beside a MAJOR
    finding counts: a person is asked next, and sees it.
    """
    verdict, findings = read_verdict(markdown, allowed), read_findings(markdown)
    if not verdict.positive:
        return Judged(verdict, findings)
    why = (
        *(
            f"{verdict.value} stands beside a {finding.severity.value} finding:"
            f" {finding.description}"
            for finding in findings
            if finding.severity in _STOPS[verdict]
        ),
        *(
            f"{verdict.value} stands beside a requirement that is not met: {reason}"
            for reason in _unmet(markdown, answers_for or AnswersFor())
        ),
    )
    return Judged(Verdict.UNREADABLE if why else verdict, findings, why)


def _unmet(markdown: str, answers_for: AnswersFor) -> Iterator[str]:
    """Yield the rows of the table that are not met, and the requirements without a row.

    A row about requirements that the review does not answer for is left out.
    """
    rows = read_requirements(markdown)
    numbers = (*answers_for.ids, *answers_for.persons)
    named = {name for row in rows for name in row.ids}
    for row in rows:
        if not met(row.state) and (not row.ids or not answers_for.ids or {*row.ids} & {*numbers}):
            yield f"{row.text}: the state is {row.state.strip() or 'empty'}"
    if rows or answers_for.table:
        yield from (f"{name} has no row in the table" for name in numbers if name not in named)
