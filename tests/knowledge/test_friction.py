"""Where runs got stuck: read from their improvement reports, and offered to the next one."""

import pytest

from forge_bot.knowledge.history import History
from forge_bot.knowledge.past_runs import read_friction
from tests.fakes.rows import rows
from tests.knowledge.run_scene import past_run

ROWS = rows(__file__)

REPORT: str = ROWS["report"]


def test_the_bullets_of_the_report_are_read_with_what_belongs_to_them() -> None:
    assert read_friction(REPORT) == (
        (
            "docs/api.md lists error codes in two tables, which had to be found separately"
            " Mitigation: keep one table"
        ),
        "No command runs a single test",
    )


@pytest.mark.parametrize(
    "filler",
    [
        "No friction observed.",
        "None",
        "none.",
        "N/A",
        "Nothing to report",
        "**No issues found.**",
        "No friction was observed",
    ],
)
def test_a_bullet_that_says_there_is_nothing_is_nothing(filler: str) -> None:
    assert read_friction(f"## Improvement Report\n\n- {filler}\n") == ()


@pytest.mark.parametrize(
    "summary",
    ["", "# Summary\n\n- x\n", "```\n## Improvement Report\n- x\n```\n", "Improvement Report\n- x"],
)
def test_without_the_heading_there_is_no_friction(summary: str) -> None:
    assert read_friction(summary) == ()


def test_a_point_in_the_words_of_the_task_comes_before_others_met_as_often() -> None:
    runs = [
        past_run("a", friction=["The test command is slow"], date="2026-03-01"),
        past_run("b", friction=["Fixtures of uploads are hidden"]),
    ]
    assert (
        History(runs).friction("Show the fixtures for uploads")[0]
        == "Fixtures of uploads are hidden"
    )
    assert len(History(runs).friction("x", limit=1)) == 1
