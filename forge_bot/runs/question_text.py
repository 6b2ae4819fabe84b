"""A question as Markdown, with the words of each face for its answers.

Its first screen is the template `parts.first_screen`: open decisions come first, then the change,
its risks, the findings of its review, and the cost.
"""

from collections.abc import Iterable

from forge_bot.artifacts.design_outline import FILE_PATH
from forge_bot.artifacts.test_paths import belongs_to_tests, is_page
from forge_bot.gate.arguments import SHOWN_DIGEST
from forge_bot.interaction.markdown_templates import render
from forge_bot.interaction.run_facts import HEAVIEST_FIRST, verdict_words
from forge_bot.prompts import escape
from forge_bot.runs.question import Question
from forge_bot.runs.question_overview import ReviewOutcome
from forge_bot.values import Finding, Verdict

MOST_RISKS, MOST_FINDINGS = 6, 6
_ALL_FINDINGS = 20
_LONGEST_DIFFERENCE = 900
_LONGEST_DECISION = 2_000
"""What git or GitHub said of a failure, with the way out at its end."""


def first_screen(question: Question, *, approach: bool = True) -> str:
    """Return the first screen; empty where a question has none of its parts. `approach` is False
    where the design stands beside it in full.
    """
    data = question.data
    overview, risks = data.overview, data.all_risks
    # All risks that our process saw are shown, and the first that the design names.
    shown = max(MOST_RISKS, len(data.risks))
    heaviest = sorted(data.findings, key=lambda finding: HEAVIEST_FIRST.index(finding.severity))
    most = MOST_FINDINGS if overview.spent else _ALL_FINDINGS
    # The line of the review counts what was corrected; of tests and pages that is enough.
    told = [one for one in heaviest if not (one.is_corrected and _is_beside_code(one))][:most]
    return render(
        "parts.first_screen",
        overview=overview,
        outline=overview.outline,
        approach=overview.outline.approach if approach else "",
        changed=changed_lines(data.difference),
        difference=data.difference,
        risks=risks[:shown],
        more_risks=len(risks) - len(risks[:shown]),
        reviews=[(_verdict_words(review), review) for review in overview.reviews],
        findings=told,
        corrected=sum(one.is_corrected for one in told),
        more_findings=sum(not one.is_corrected for one in heaviest if one not in told),
        requirements=data.requirements,
    )


def _verdict_words(review: ReviewOutcome) -> str:
    """Return the verdict; notes that are all corrected are none any more."""
    notes = review.verdict is Verdict.APPROVE_WITH_NOTES and not review.findings
    return verdict_words(Verdict.APPROVE if notes else review.verdict)


def _is_beside_code(finding: Finding) -> bool:
    """Return whether a finding begins with the path of a test or a page."""
    place = FILE_PATH.match(finding.description.lstrip("`"))
    return place is not None and (belongs_to_tests(place[0]) or is_page(place[0]))


def question_text(
    question: Question, answers: Iterable[tuple[str, str]], how: str, *, approach: bool = True
) -> str:
    """Return the question in one text: what is decided, the first screen, and each answer as this
    face takes it, with its effect, below the words `how`. `approach` as for `first_screen`.
    """
    data = question.data
    digest = data.digest[:SHOWN_DIGEST]
    counts_for = f" (a yes counts for version `{digest}` only)" if digest else ""
    # The answers say what is asked about a design.
    decision = data.decision[:1] if data.overview.outline.approach else data.decision
    parts = (
        "  \n".join(escape.line(words, _LONGEST_DECISION) for words in decision),
        first_screen(question, approach=approach),
        f"**{how}**{counts_for}:\n\n"
        + "\n".join(f"- `{words}`: {effect}" for words, effect in answers),
        data.in_thread,
    )
    return "\n\n".join(filter(None, parts))


def changed_lines(difference: str) -> str:
    """Return the lines of a difference that came and went, without those around them; empty where
    they are too many for the first screen.
    """
    lines = [line for line in difference.splitlines()[2:] if line[:1] in {"+", "-"}]
    text = "\n".join(lines)
    return text if len(text) <= _LONGEST_DIFFERENCE else ""
