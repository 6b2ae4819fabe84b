"""A person or a program changes the bot's own comment with the open question."""

import pytest

from tests.bot.stage import Stage, heard
from tests.fakes.sampled import sampled_rows


def edit(stage: Stage, text: str) -> None:
    """Somebody who may write gives the comment with the question another text."""
    (question,) = [each for each in stage.issue.comments if "forge-bot:checkpoint" in each.body]
    question.body = question.body.replace("Something true", text) if text else "(removed)"
    question.updated = stage.hub.clock.tick()


@pytest.mark.parametrize(
    ("text", "version"),
    sampled_rows(
        [
            ("Something quite different", ""),
            ("Something quite different", "named"),
            ("", "named"),
            ("", ""),
        ],
        4,
    ),
)
def test_an_approval_of_a_question_that_was_edited_counts_for_nothing_and_it_is_asked_again(
    waiting: Stage, text: str, version: str
) -> None:
    digest = waiting.state["gate"]["digest"]
    edit(waiting, text)
    job = heard(waiting.say(f"/approve {digest[:8] if version else ''}".strip()))
    assert (job.code, job.outcome) == (0, "waiting"), job.log
    assert waiting.state["decisions"] == []
    (said,) = waiting.said("reply occasion=question-edited")
    assert said.startswith("**Somebody edited the comment with the open question")
    assert waiting.said("reply occasion=comment-deleted") == []
    again = waiting.said("checkpoint")[-1]
    assert "Something true" in again
    assert digest[:12] in again
    assert heard(waiting.say("/approve")).outcome == "done"
    assert [each["answer"] for each in waiting.state["decisions"]] == ["approve"]


def test_an_approval_before_the_question_was_edited_counts(waiting: Stage) -> None:
    comment = waiting.comment("/approve")
    waiting.hub.clock.tick()
    edit(waiting, "Something quite different")
    assert heard(waiting.delivered(comment)).outcome == "done"


def test_an_edited_question_is_asked_again_at_the_next_wake(waiting: Stage) -> None:
    edit(waiting, "Something quite different")
    assert heard(waiting.say("/forge status")).code == 0
    assert len(waiting.said("reply occasion=question-edited")) == 1
    assert "Something true" in waiting.said("checkpoint")[-1]
    assert heard(waiting.say("/forge status")).code == 0
    assert len(waiting.said("checkpoint")) == 2
