"""Work that people ask for on an open pull request: by words, of the checks, and of reviews."""

from pathlib import Path

import pytest

from tests.bot.kept import Kept
from tests.bot.stage import Stage, heard
from tests.fakes import script

pytestmark = pytest.mark.slow

Answers = dict[tuple[str, str, str], script.Answer]


def changing(number: int, *requirements: str) -> Answers:
    """An implementer that adds a file, and a review that finds what people required met."""
    edit = {"path": f"rota/more{number}.py", "operation": "write", "old": "", "new": "MORE = 1\n"}
    return {
        ("implementer", "*", "*"): script.change(edit),
        ("comprehensive-reviewer", "*", "*"): script.review_of_requirements(*requirements),
    }


@pytest.fixture
def opened(over: Kept, tmp_path: Path) -> Stage:
    """A run whose pull request is open."""
    return over.again(tmp_path)


def told(stage: Stage) -> list[str]:
    return stage.said("reply occasion=follow-up", stage.pull)


def last_commit(stage: Stage) -> str:
    return stage.repo.bare.git("log", "-1", "--format=%B", stage.offered)


def test_words_on_the_pull_request_are_done_and_one_comment_there_tells_it_to_its_end(
    opened: Stage,
) -> None:
    first, before = opened.repo.bare.head(opened.offered), len(opened.issue.comments)
    opened.model(changing(1, "P-1"))
    asked = opened.comment("/forge Say `nobody` in English.\nNot in French.", issue=opened.pull)
    assert heard(opened.delivered(asked)).code == 0
    assert opened.state["currentPhaseStatus"] == "completed"
    [comment] = told(opened)
    assert "**Done: what `maint` asked for.**" in comment
    for shown in ("Not in French.", "say `nobody` in", "rota/more1.py", "evidence.json", "| P-1"):
        assert shown in comment, comment
    message = last_commit(opened)
    assert "maint asked for this: Say `nobody` in English. Not in French." in " ".join(
        message.split()
    )
    assert f"Requested-by: maint via {opened.hub.url}" in message
    assert "Approved-by" not in message
    assert opened.repo.bare.contains(opened.offered, first)
    assert "Not in French." in opened.document("follow-up-1.md")
    head = opened.repo.bare.head(opened.offered)
    newest = [status for status in opened.repo.statuses if status.sha == head]
    assert [status.state for status in newest] == ["success"]
    assert len(opened.issue.comments) == before
    assert "more asked for by `maint`" in (opened.pull.body or "")


def test_a_rejection_and_a_retry_with_notes_ask_for_a_change_too_and_are_answered_once(
    opened: Stage,
) -> None:
    opened.model(changing(2, "P-1"))
    assert heard(opened.say("/reject Not so.")).code == 0
    opened.model(changing(3, "P-1", "P-2"))
    opened.check("test", "failure", "E  assert 1 == 2")
    retry = opened.comment("/retry\nUse UTC.", issue=opened.pull)
    for _ in range(2):
        assert heard(opened.delivered(retry)).code == 0
    first, second = told(opened)
    assert ("Not so." in first, "over=yes" in first) == (True, True)
    assert ("Use UTC." in second, "`test` failed" in second) == (True, True)
    assert "assert 1 == 2" in opened.document("follow-up-2.md")
    assert len(opened.state["sentBack"]) == 2


@pytest.mark.parametrize("state", ["closed", "open"])
def test_what_cannot_be_changed_any_more_is_said(opened: Stage, state: str) -> None:
    opened.pull.state = state
    words = "/forge" if state == "open" else "/forge Say nobody."
    assert heard(opened.say(words, issue=opened.pull)).code == 0
    assert told(opened) == []
    assert len(opened.said("reply", opened.pull)) == 1
