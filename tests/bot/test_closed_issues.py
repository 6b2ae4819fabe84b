"""A closed issue stops its run, and says so once; reopening it or a command goes on, and nothing is
lost.
"""

import pytest

from tests.bot.stage import Job, Stage, heard
from tests.bot.truth import agree_without_comment

STOPPED = "The issue was closed, so I have stopped here."


def status(stage: Stage) -> str:
    return stage.state["currentPhaseStatus"]


def stopped(stage: Stage, job: Job, headline: str = STOPPED) -> str:
    """The one comment on the closing, after the job said the same everywhere."""
    agree_without_comment(stage, job, f"**{headline}**", 0)
    (said,) = stage.said("reply occasion=issue-closed")
    assert said.startswith(f"**{headline}**")
    return said


@pytest.mark.slow
def test_a_closed_issue_stops_its_run_with_one_comment_and_an_answer_goes_on(
    waiting: Stage,
) -> None:
    said = stopped(waiting, waiting.close())
    assert "Nothing is lost" in said
    assert "a command here, such as `/approve`" in said
    assert "Your turn" in waiting.said("tracking")[0]
    assert heard(waiting.say("/forge status")).code == 0
    (told,) = waiting.said("reply occasion=status")
    assert told.startswith(f"**{STOPPED}**")
    assert "**Your turn: please read `design.md` and decide.**" in told
    assert len(waiting.said("reply occasion=issue-closed")) == 1
    assert status(waiting) == "awaiting_human"
    assert heard(waiting.say("/approve")).code == 0
    assert status(waiting) == "completed"


@pytest.mark.slow
def test_a_question_on_a_closed_issue_is_answered_and_does_not_go_on(waiting: Stage) -> None:
    waiting.model({("inquiry", "*", "*"): {"artifact_markdown": "From the first shift of all.\n"}})
    waiting.close()
    digest = waiting.state["gate"]["digest"]
    assert heard(waiting.say("/ask Why are days counted?")).code == 0
    assert len(waiting.said("reply occasion=answer")) == 1
    assert waiting.state["gate"]["digest"] == digest
