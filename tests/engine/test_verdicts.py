"""What a review says: one verdict or none that counts, and its findings."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, Literal

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from forge_bot.artifacts.findings import read_findings
from forge_bot.artifacts.reviews import AnswersFor, judge_review
from forge_bot.artifacts.verdicts import read_verdict
from forge_bot.values import Finding, Frozen, Severity, Verdict

DESIGN = (Verdict.APPROVE, Verdict.APPROVE_WITH_NOTES, Verdict.REVISE)
CODE = (Verdict.PASS, Verdict.PASS_WITH_NOTES, Verdict.FAIL)


class Review(Frozen):
    """A review of the corpus and what a careful person reads in it."""

    name: str
    text: str
    verdict: Verdict = Verdict.UNREADABLE
    allowed: Literal["design", "code"] = "design"
    findings: tuple[tuple[Severity, str], ...] = ()

    @property
    def offered(self) -> tuple[Verdict, ...]:
        return DESIGN if self.allowed == "design" else CODE


def corpus(name: str) -> Any:
    """One file of reviews as a parameter, each case under its name."""
    path = Path(__file__).parent.parent / "fixtures" / "reviews" / f"{name}.yaml"
    reviews = TypeAdapter(list[Review]).validate_python(
        yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    )
    return pytest.mark.parametrize("review", reviews, ids=[review.name for review in reviews])


def said(findings: Sequence[Finding]) -> tuple[tuple[Severity, str], ...]:
    return tuple((finding.severity, finding.description) for finding in findings)


@corpus("verdicts_read")
def test_a_verdict_that_a_careful_person_reads_is_read(review: Review) -> None:
    assert read_verdict(review.text, review.offered) is review.verdict


@corpus("verdicts_unreadable")
def test_no_verdict_is_made_out_of_what_says_none(review: Review) -> None:
    assert read_verdict(review.text, review.offered) is Verdict.UNREADABLE


@corpus("findings")
def test_findings_are_found_in_the_shapes_reviewers_write(review: Review) -> None:
    assert said(read_findings(review.text)) == review.findings


@corpus("whole")
def test_a_whole_review_is_judged_by_its_verdict_and_its_findings(review: Review) -> None:
    verdict, findings, _ = judge_review(review.text, review.offered)
    assert (verdict, said(findings)) == (review.verdict, review.findings)


@pytest.mark.parametrize("yes", [verdict for verdict in Verdict if verdict.positive])
def test_a_yes_counts_only_where_its_findings_allow_it(yes: Verdict) -> None:
    passes = yes in CODE
    for severity, counts in {"CRITICAL": False, "MAJOR": not passes, "MINOR": True}.items():
        judged = judge_review(f"## Verdict: {yes}\n\n- [{severity}] no retry", [yes])
        assert judged.verdict is (yes if counts else Verdict.UNREADABLE)
        assert judged.contradictions == (
            () if counts else (f"{yes} stands beside a {severity} finding: no retry",)
        )


@pytest.mark.parametrize(
    ("rows", "ids", "table", "why"),
    [
        ("| R-1: a | | | met |\n| R-2 | | | **Met** |", ("R-1", "R-2"), True, ()),
        ("| R-1 and R-2 | | | left out, as decided |", ("R-1", "R-2"), True, ()),
        ("| R-1 | | | partly |", ("R-1",), True, ("R-1: the state is partly",)),
        (
            "| R-1 | | | met, but not on Windows |",
            (),
            False,
            ("R-1: the state is met, but not on Windows",),
        ),
        ("| It ends | | | |", (), False, ("It ends: the state is empty",)),
        ("| R-1 | | | met |", ("R-1", "P-1"), True, ("P-1 has no row in the table",)),
        ("| R-1: as R-2 | | | met |", ("R-1", "R-2"), True, ("R-2 has no row in the table",)),
        ("", ("R-1",), True, ("R-1 has no row in the table",)),
        ("", ("R-1",), False, ()),
        ("| R-1 | | | met |\n| R-2: of another task | | | missing |", ("R-1",), False, ()),
    ],
)
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


@pytest.mark.parametrize(
    ("one", "other"),
    [pair for pair in product(Verdict, repeat=2) if Verdict.UNREADABLE not in pair],
)
def test_two_verdicts_are_readable_only_if_they_are_the_same(one: Verdict, other: Verdict) -> None:
    read = read_verdict(f"Verdict: {one}\n\n## Verdict\n\n**{other}**\n", [*Verdict])
    assert read is (one if one is other else Verdict.UNREADABLE)


@pytest.mark.parametrize(
    "verdict", [verdict for verdict in Verdict if verdict is not Verdict.UNREADABLE]
)
def test_a_verdict_that_was_not_offered_is_unreadable(verdict: Verdict) -> None:
    others = [other for other in Verdict if other is not verdict]
    assert read_verdict(f"## Verdict: {verdict}", [verdict]) is verdict
    assert read_verdict(f"## Verdict: {verdict}", others) is Verdict.UNREADABLE
    assert read_verdict(f"## Verdict: {verdict}", []) is Verdict.UNREADABLE


def test_the_word_unreadable_is_no_verdict() -> None:
    assert read_verdict("## Verdict: UNREADABLE", [Verdict.UNREADABLE]) is Verdict.UNREADABLE
    assert not Verdict.UNREADABLE.positive


def test_a_long_title_is_cut_at_five_hundred_characters() -> None:
    (finding,) = read_findings(f"- [MAJOR] {'word ' * 200}")
    assert len(finding.description) == 500
    assert finding.description.endswith("…")
    (exact,) = read_findings(f"- [MAJOR] {'x' * 500}")
    assert exact.description == "x" * 500


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("APROVE_PSFIL |/\n#*-`>[]().:x!?~ Vverdict"), max_size=200))
def test_no_text_upsets_the_reader_and_prose_before_a_verdict_does_not_change_a_no(
    text: str,
) -> None:
    read_findings(text)
    assert read_verdict(text, DESIGN) in {*DESIGN, Verdict.UNREADABLE}
    assert read_verdict(f"{text}\n\n```\n```\n\n## Verdict: REVISE\n", DESIGN) in {
        Verdict.REVISE,
        Verdict.UNREADABLE,
    }


@settings(deadline=None)
@given(
    st.sampled_from(DESIGN[:2]),
    st.sampled_from(["if", "once", "unless", "provided", "only after", "pending", "as long as"]),
    st.booleans(),
)
def test_a_yes_with_a_condition_right_behind_it_is_never_read(
    yes: Verdict, condition: str, comma: bool
) -> None:
    text = f"## Verdict: {yes}{',' if comma else ''} {condition} the tests pass"
    assert read_verdict(text, DESIGN) is Verdict.UNREADABLE


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000,
        "| [MAJOR] " * 6_000,
        "critical " + "-" * 60_000,
        "Verdict: " * 7_000,
        "Verdict: APPROVE " + "if " * 20_000,
        "*_" * 30_000,
    ],
    ids=["brackets", "tags", "dashes", "labels", "conditions", "stars"],
)
def test_a_hostile_review_is_read_in_a_moment(text: str) -> None:
    start = process_time()
    judge_review(text, DESIGN)
    assert process_time() - start < 5
