"""What a review says: one verdict or none that counts, and its findings."""

from time import process_time

import pytest

from forge_bot.artifacts.read_artifact import AnswersFor, judge_review, read_findings, read_verdict
from forge_bot.values import Verdict
from tests.fakes.rows import rows

ROWS = rows(__file__)

DESIGN = (Verdict.APPROVE, Verdict.APPROVE_WITH_NOTES, Verdict.REVISE)
CODE = (Verdict.PASS, Verdict.PASS_WITH_NOTES, Verdict.FAIL)


FINDINGS: list[tuple[str, list[str]]] = [
    (
        "- **[CRITICAL]** Token `x` is\n  logged\n- [MINOR] typo",
        ["CRITICAL: Token `x` is logged", "MINOR: typo"],
    ),
    ("1. **[MAJOR] No lock.** Two writers.\n\n   More of it.", ["MAJOR: No lock. Two writers."]),
    ("### [MAJOR] No test\n\nIt is new.", ["MAJOR: No test"]),
    ("- [MAJOR] twice\n- [MAJOR] twice\n- [MINOR] twice", ["MAJOR: twice", "MINOR: twice"]),
    ("- **[MAJOR]** one\n  - a detail of it", ["MAJOR: one"]),
    ("None.", []),
    ("> - [CRITICAL] quoted\n\n```\n- [MAJOR] code\n```\n\n<!-- [MAJOR] y -->\n\nNone.", []),
]
"""Texts below the heading of the findings, and what is read."""


@pytest.mark.parametrize(("text", "findings"), FINDINGS, ids=range(len(FINDINGS)))
def test_findings_are_the_texts_that_begin_with_a_severity(text: str, findings: list[str]) -> None:
    judged = judge_review(f"## Verdict: FAIL\n\nWhy.\n\n## Findings\n\n{text}\n", CODE)
    assert judged.verdict is Verdict.FAIL
    assert [f"{item.severity}: {item.description}" for item in judged.findings] == findings


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("- CRITICAL: no brackets", "CRITICAL: no brackets"),
        ("- [MAJOR] one\n- no retry", "no retry"),
        ("- [BLOCKER] unknown", "[BLOCKER] unknown"),
        ("### Critical\n\n- data loss", "Critical"),
        ("- [MAJOR] one\n\n### Minor\n\n- [MINOR] two", "Minor"),
        ("The key is in the log.", "The key is in the log."),
    ],
)
def test_a_review_with_a_finding_in_another_form_goes_back_with_its_place(
    text: str, named: str
) -> None:
    for verdict in (Verdict.PASS, Verdict.FAIL):
        judged = judge_review(f"## Verdict: {verdict}\n\n## Findings\n\n{text}\n", CODE)
        assert judged.verdict is Verdict.UNREADABLE
        assert judged.contradictions[0].startswith(f"“{named}” stands under `## Findings` without")


@pytest.mark.parametrize("text", ROWS["any_other_form_of_a"])
def test_any_other_form_of_a_verdict_is_unreadable_and_told_the_form(text: str) -> None:
    judged = judge_review(text, [*CODE, Verdict.UNREADABLE][:3])
    assert judged.verdict is Verdict.UNREADABLE
    assert judged.contradictions == (
        (
            "there must be exactly one line with a verdict, out of `## Verdict: PASS`,"
            " `## Verdict: PASS_WITH_NOTES`, `## Verdict: FAIL`"
        ),
    )


@pytest.mark.parametrize("verdict", [*DESIGN, *CODE])
def test_the_prescribed_form_is_read_for_those_who_were_offered_it(verdict: Verdict) -> None:
    text = f"# Review\n\n## Verdict: **{verdict}**\r\n\r\nChecked: all of it.\n"
    assert read_verdict(text, [verdict]) is verdict
    assert read_verdict(text, [other for other in Verdict if other is not verdict]) is (
        Verdict.UNREADABLE
    )


@pytest.mark.parametrize("of_draft", [False, True])
@pytest.mark.parametrize("yes", [verdict for verdict in Verdict if verdict.positive])
def test_a_yes_counts_only_where_its_findings_allow_it(yes: Verdict, of_draft: bool) -> None:
    passes = yes in CODE or of_draft
    for severity, counts in {"CRITICAL": False, "MAJOR": not passes, "MINOR": True}.items():
        text = f"## Verdict: {yes}\n\n- [{severity}] no retry"
        judged = judge_review(text, [yes], AnswersFor(table=of_draft))
        assert judged.verdict is (yes if counts else Verdict.UNREADABLE)
        assert judged.contradictions == (
            () if counts else (f"{yes} stands beside a {severity} finding: no retry",)
        )


@pytest.mark.parametrize(("rows", "ids", "table", "why"), ROWS["work_passes_only_if_each"])
def test_work_passes_only_if_each_requirement_that_the_review_answers_for_is_met(
    rows: str, ids: tuple[str, ...], table: bool, why: tuple[str, ...]
) -> None:
    head = "| Requirement | Files | Tests | State |\n|---|---|---|---|\n"
    text = f"## Verdict: PASS\n\n## Requirements\n\n{head if rows else 'None.'}{rows}\n"
    judged = judge_review(text, CODE, AnswersFor(ids=ids, table=table))
    said = tuple(f"PASS stands beside a requirement that is not met: {reason}" for reason in why)
    assert judged.contradictions == said
    assert judged.verdict is (Verdict.UNREADABLE if why else Verdict.PASS)
    failed = judge_review(text.replace("PASS", "FAIL"), CODE, AnswersFor(ids=ids, table=table))
    assert failed.verdict is Verdict.FAIL


def test_a_long_title_is_cut_at_five_hundred_characters() -> None:
    (finding,) = read_findings(f"- [MAJOR] {'word ' * 200}")
    assert len(finding.description) == 500
    assert finding.description.endswith("…")
    (exact,) = read_findings(f"- [MAJOR] {'x' * 500}")
    assert exact.description == "x" * 500


@pytest.mark.parametrize("text", ["[" * 60_000, "- [MAJOR] " * 6_000, "*_" * 30_000])
def test_a_hostile_review_is_read_in_a_moment(text: str) -> None:
    start = process_time()
    judge_review(f"## Verdict: APPROVE\n\n## Findings\n\n{text}", DESIGN)
    assert process_time() - start < 5
