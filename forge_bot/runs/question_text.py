"""The first screen of a question as Markdown, the same on every face.

Open decisions come first, then the change, its risks, the findings of its review, and the cost. A
face adds where the documents are and how it is answered.
"""

from collections.abc import Iterator, Sequence
from textwrap import shorten

from forge_bot.artifacts.open_decisions import OpenDecision
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, verdict_words
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.runs.question_overview import Overview
from forge_bot.sentences import listed, say
from forge_bot.text_format import whole_sentences
from forge_bot.values import Finding, Severity

MOST_FILES, MOST_INTERFACES, MOST_RISKS, MOST_FINDINGS = 5, 2, 3, 6
_ALL_FINDINGS = 20
_LONGEST_APPROACH, _LONGEST_CHANGE, _LONGEST_ITEM, _LONGEST_NAME = 240, 60, 300, 80
_LONGEST_DIFFERENCE = 900
_WEIGHTS = {Severity.CRITICAL: "🟥", Severity.MAJOR: "🟧", Severity.MINOR: "🟨"}


def first_screen(question: Question, *, approach: bool = True) -> str:
    """Return the first screen; empty where a question has none of its parts. `approach` is False
    where the design stands beside it in full.
    """
    data = question.data
    overview = data.overview
    parts = (
        _notes(overview.notes, data.difference),
        _decisions(overview.outline.decisions),
        _change(overview, approach=approach),
        "\n".join(
            [
                *_risks(data.risks, overview.outline.risks),
                *_review(overview),
                *_findings(data.findings, MOST_FINDINGS if overview.spent else _ALL_FINDINGS),
                *_cost(overview),
            ]
        ),
    )
    return "\n\n".join(part for part in parts if part)


def changed_lines(difference: str) -> str:
    """Return the lines of a difference that came and went, without those around them; empty where
    they are too many for the first screen.
    """
    lines = [line for line in difference.splitlines()[2:] if line[:1] in {"+", "-"}]
    text = "\n".join(lines)
    return text if len(text) <= _LONGEST_DIFFERENCE else ""


def _notes(notes: str, difference: str) -> str:
    """Return what a person said about the version before, and what changed since."""
    if not notes:
        return ""
    changed = changed_lines(difference)
    effect = (
        ""
        if changed
        else say("question.changed_below" if difference else "question.nothing_changed")
    )
    head = say("question.your_notes", notes=_whole(notes, _LONGEST_ITEM), changed=effect)
    return f"{head}\n\n{escape.show_source(changed, 'diff')}" if changed else head


def _decisions(decisions: Sequence[OpenDecision]) -> str:
    if not decisions:
        return ""
    lines = [say("question.you_decide", example=f"{decisions[0].number}b"), ""]
    for decision in decisions:
        lines.append(f"{decision.number}. {_whole(decision.question)}")
        for option in decision.options:
            least = say("question.least_change") if option == decision.default else ""
            lines.append(f"   - **{option.letter}** {_whole(option.text)}{least}")
    return "\n".join(lines)


def _change(overview: Overview, *, approach: bool) -> str:
    """Return the approach, the files, and what depends on them."""
    outline = overview.outline
    shown = _whole(outline.approach, _LONGEST_APPROACH) if approach else ""
    if not outline.files:
        return shown
    head = say("question.what_will_change", files=overview.counted)
    lines = [
        f"- {escape.code(file.path)}" + (f": {_gist(file.change)}" if file.change else "")
        for file in outline.files[:MOST_FILES]
    ]
    if (more := len(outline.files) - MOST_FILES) > 0:
        lines.append(f"- {say('question.more_files', count=more)}")
    for name, codes, most in (
        (say("question.tests"), outline.tests, 1),
        (say("question.interfaces"), outline.interfaces, MOST_INTERFACES),
        (say("question.dependencies"), overview.dependencies, MOST_FILES),
    ):
        if codes:
            lines.append(f"- {name}: {_codes(codes, most)}")
    if overview.reach:
        lines.append(f"- {escape.plain(overview.reach, 300)}")
    return "\n\n".join([*([shown] if shown else []), head, "\n".join(lines)])


def _risks(own: Sequence[str], named: Sequence[str]) -> Iterator[str]:
    """Yield all risks that our process saw, and the first that the design names."""
    shown = tuple(dict.fromkeys((*own, *named)))[: max(MOST_RISKS, len(own))]
    for risk in shown:
        yield f"- ⚠️ {_whole(risk, _LONGEST_ITEM)}"
    if more := len({*own, *named}) - len(shown):
        yield f"- {say('question.more_risks', count=more)}"


def _review(overview: Overview) -> Iterator[str]:
    """Yield edits by hand, and the verdicts of the reviews."""
    for edit in overview.edits:
        document, by = escape.code(edit.document), escape.plain(edit.by)
        yield "- " + say("question.changed_by_hand", document=document, by=by, at=edit.at)
    for review in overview.reviews:
        verdict = say(
            "question.review_before_the_change"
            if review.earlier_version
            else "question.review_for_this_version",
            verdict=verdict_words(review.verdict),
        )
        findings = (
            say("question.findings_left_as_they_are", count=review.findings)
            if review.findings
            else ""
        )
        yield f"- {verdict}{findings}"
    if overview.spent and not overview.reviews:
        yield f"- {say('question.no_review')}"


def _findings(findings: Sequence[Finding], most: int) -> Iterator[str]:
    """Yield the heaviest findings, each in whole sentences."""
    heaviest = sorted(findings, key=lambda finding: HEAVIEST_FIRST.index(finding.severity))
    for finding in heaviest[:most]:
        words = _whole(finding.description, _LONGEST_ITEM)
        yield f"- {_WEIGHTS[finding.severity]} **{finding.severity}** {words}"
    if (more := len(heaviest) - most) > 0:
        yield f"- {say('question.more_in_documents', count=more)}"


def _cost(overview: Overview) -> Iterator[str]:
    if overview.spent:
        cost = say("question.cost", spent=escape.plain(overview.spent))
        more = escape.plain(overview.to_go)
        yield f"- {cost}{say('question.probably_more', to_go=more) if more else ''}"


def _whole(text: str, most: int = 600) -> str:
    return escape.line(whole_sentences(text, most), 1_000)


def _gist(change: str) -> str:
    return escape.plain(shorten(change, _LONGEST_CHANGE, placeholder=" …"))


def _codes(names: Sequence[str], most: int) -> str:
    """Return the first names as code, and how many more there are."""
    return listed([escape.code(name, _LONGEST_NAME) for name in names], most=most)
