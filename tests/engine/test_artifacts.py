"""When a document is what its phase asked for."""

import pytest

from forge_bot.artifacts.read_artifact import MOST_CHARACTERS, check_headings, inspect
from forge_bot.values import Finding, Problem, Severity, TaskId, TaskSpec, Verdict
from tests.fakes.rows import rows

ROWS = rows(__file__)

FILLED = ROWS["filled"]
UNFILLED = ROWS["unfilled"]
ABSENT = {
    "nothing like it": "## Rest\n\ntext",
    "another level": "### Approach\n\ntext",
    "a longer name": "## Approach and risks\n\ntext",
    "underlined": "Approach\n--------\n\ntext",
    "a quote": "> ## Approach\n>\n> text",
    "a comment": "<!--\n## Approach\n\ntext\n-->\n\ntext",
    "a code block": "text\n\n```\n## Approach\n\ntext\n```\n",
}


@pytest.mark.parametrize("text", FILLED.values(), ids=FILLED.keys())
def test_a_required_heading_with_something_below_it_is_fine(text: str) -> None:
    assert check_headings(text, ["Approach"]) == ()


@pytest.mark.parametrize("text", UNFILLED.values(), ids=UNFILLED.keys())
def test_a_required_heading_with_nothing_below_it_is_a_problem_that_a_person_may_accept(
    text: str,
) -> None:
    problem = Problem(
        place="Approach",
        message="there is nothing below `## Approach`; write that part",
        fatal=False,
    )
    assert check_headings(text, ["Approach"]) == (problem,)


@pytest.mark.parametrize("text", ABSENT.values(), ids=ABSENT.keys())
def test_a_required_heading_that_is_not_there_is_a_problem_that_says_what_to_add(text: str) -> None:
    (problem,) = check_headings(text, ["Approach"])
    assert (problem.place, problem.fatal) == ("Approach", False)
    assert problem.message.startswith("the heading is missing; add `## Approach`, of level 2,")


@pytest.mark.parametrize("text", ["", "  \n\t\n", "\ufeff\u200b", "---\n", "<!-- all of it -->\n"])
def test_a_file_that_shows_nothing_is_empty_and_nobody_can_accept_it(text: str) -> None:
    assert check_headings(text, ["Approach"]) == (
        Problem(place="", message="the file is empty", fatal=True),
    )


def test_a_file_beyond_the_most_characters_is_refused_and_one_at_the_limit_is_not() -> None:
    text = "## Approach\n\n" + "word " * (MOST_CHARACTERS // 5)
    (problem,) = check_headings(text, ["Approach"])
    assert problem.fatal
    assert "200,000" in problem.message
    assert check_headings(text[:MOST_CHARACTERS], ["Approach"]) == ()


def test_an_inspection_of_a_review_carries_verdict_findings_and_missing_headings() -> None:
    text = "## Verdict: REVISE\n\n- **[MAJOR]** no tests\n"
    inspection = inspect(
        text, headings=["Verdict", "Findings"], verdicts=[Verdict.APPROVE, Verdict.REVISE]
    )
    assert inspection.verdict is Verdict.REVISE
    assert inspection.findings == (Finding(severity=Severity.MAJOR, description="no tests"),)
    assert [problem.place for problem in inspection.problems] == ["Findings"]
    assert not inspection.fatal


def test_an_inspection_of_tasks_carries_the_tasks_and_their_problems() -> None:
    fields = "depends_on: []\nAcceptance criteria:\n- AC-1: done\n"
    text = f"## Task 1: A\nmode: parallel\n{fields}"
    inspection = inspect(text, headings=[], tasks=True)
    assert [task.id for task in inspection.tasks] == ["1"]
    assert inspection.fatal
    assert inspect(text, headings=[]).tasks == ()
    fine = inspect(text.replace("parallel", "sequential"), headings=[], tasks=True)
    assert fine.tasks == (TaskSpec(id=TaskId("1"), title="A", acceptance=("AC-1: done",)),)
    assert fine.problems == ()


def test_an_inspection_of_an_empty_review_is_unreadable_and_fatal() -> None:
    inspection = inspect("", headings=["Verdict"], verdicts=[Verdict.APPROVE], tasks=True)
    assert inspection.verdict is Verdict.UNREADABLE
    assert inspection.fatal
    assert len(inspection.problems) == 1
