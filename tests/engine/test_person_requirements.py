"""What people approve with stands beside the numbered requirements of the request."""

from datetime import UTC, datetime, timedelta

import pytest

from forge_bot.artifacts.read_artifact import AnswersFor, judge_review
from forge_bot.engine.person_requirements import person_requirements
from forge_bot.engine.state import Decision
from forge_bot.values import PhaseId, Verdict
from tests.fakes.bench import Bench

BEGUN = datetime(2026, 11, 29, 9, tzinfo=UTC)


def approved(minute: int, **words: object) -> Decision:
    return Decision(
        at=BEGUN + timedelta(minutes=minute),
        gate=PhaseId("checkpoint-a"),
        answer="approve",
        digest="1a",
        by="val",
        via="terminal",
    ).replace(**words)


def test_conditions_stay_and_choices_are_those_of_the_last_approval() -> None:
    first = approved(0, choices=("2a",), chosen=("keep the name",), condition="say 'sch'")
    second = approved(1, choices=("1b",), chosen=("two files",))
    state = Bench().state.replace(decisions=(first, second))
    assert [(each.number, each.text) for each in person_requirements(state)] == [
        ("P-1", "say 'sch'"),
        ("P-2", "1b: two files"),
    ]


def test_a_condition_of_an_approval_beside_others_counts_once_they_settled_the_question() -> None:
    beside = approved(0, condition="say 'sch'", choices=("2a",), chosen=("keep the name",))
    state = Bench().state.replace(agreed=(beside, approved(0, digest="2b", condition="no")))
    assert person_requirements(state) == ()
    settled = state.replace(decisions=(approved(1, choices=("2a",), chosen=("keep the name",)),))
    assert [each.text for each in person_requirements(settled)] == [
        "say 'sch'",
        "2a: keep the name",
    ]


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ("| R-1: x | `a.py` | | met |\n| P-1: y | `a.py` | | met |", Verdict.PASS),
        ("| R-1: x | `a.py` | | met |\n| P-1: y | `a.py` | | missing |", Verdict.UNREADABLE),
        ("| R-1: x | `a.py` | | met |", Verdict.UNREADABLE),
    ],
)
def test_a_review_passes_only_what_meets_a_persons_requirement(rows: str, verdict: Verdict) -> None:
    text = (
        "# Review\n\n## Verdict: PASS\n\n## Requirements\n\n"
        f"| Requirement | Files | Tests | State |\n| --- | --- | --- | --- |\n{rows}\n"
    )
    answers = AnswersFor(ids=("R-1",), persons=("P-1",), table=True)
    assert judge_review(text, (Verdict.PASS, Verdict.FAIL), answers).verdict is verdict
