"""What goes wrong on the way: state, comment, summary and exit code say the same, and the next wake
goes on.
"""

import re

import pytest

from tests.bot.stage import Stage, agree, agree_without_comment, heard
from tests.fakes.script import BREAKS, change

COMMENT = r"POST .*/issues/\d+/comments$"


def finishes(stage: Stage) -> None:
    """Whatever happened before: the run goes on to its end, with one decision, one question and one
    pull request.
    """
    last = heard(stage.say("/forge status"))
    assert last.code == 0, last.log
    assert stage.state["currentPhaseStatus"] == "completed", last.log
    assert len(stage.state["decisions"]) == 1
    assert len(stage.said("checkpoint")) == 1
    assert len([issue for issue in stage.repo.issues.values() if issue.pull]) == 1
    assert len(stage.said("tracking")) == 1


@pytest.mark.slow
def test_tests_that_a_change_turned_red_are_shown_at_their_lines(waiting: Stage) -> None:
    waiting.hub.commit(waiting.repo, "main", {".forge/config.yml": "tries: {most: 0}\n"})
    waiting.model({("implementer", "*", "*"): change(BREAKS)})
    job = heard(waiting.say("/approve"))
    errors = re.findall(r"::error title=forge-bot,file=(.+),line=\d+::Newly red: (.+)", job.log)
    assert {file for file, _ in errors} == {"tests/test_cli.py", "tests/test_schedule.py"}
    assert len(errors) == 4
    assert all(name.startswith("test_") for _, name in errors)


# -- GitHub refuses
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_rate_limit_of_github_stops_the_job_red_with_its_end_and_the_next_one_goes_on(
    waiting: Stage,
) -> None:
    waiting.hub.faults.exhausted(
        "(PATCH|POST) .*/(comments|pulls)", waiting.hub.clock.seconds + 3000, times=9
    )
    job = heard(waiting.say("/approve"))
    agree_without_comment(
        waiting, job, "**GitHub lets me write no more for now.**", 1, tracked=False
    )
    assert re.search(r"The limit is lifted in (4\d|50) minutes\.", job.summary)
    waiting.hub.faults.waiting.clear()
    finishes(waiting)


@pytest.mark.slow
def test_a_branch_that_may_not_be_pushed_to_is_named_and_nothing_counts_that_is_not_there(
    waiting: Stage,
) -> None:
    waiting.hub.protect(waiting.repo, waiting.branch)
    before = waiting.repo.bare.head(waiting.branch)
    job = heard(waiting.say("/approve"))
    said = agree(waiting, job, "branch-protected", 1)
    assert "GH006: Protected branch update failed" in said
    assert "git -c" not in said
    assert waiting.repo.bare.head(waiting.branch) == before
    assert linked_commits(waiting) == {before}
    waiting.repo.protections.clear()
    finishes(waiting)


def linked_commits(stage: Stage) -> set[str]:
    """The commits that links of the tracking comment name."""
    return set(re.findall(r"/(?:tree|blob)/([0-9a-f]{40})", stage.said("tracking")[0]))


def test_an_issue_that_went_to_another_repository_is_left_alone(waiting: Stage) -> None:
    other = waiting.hub.repository("acme/elsewhere")
    comment = waiting.comment("/approve")
    waiting.hub.transfer(waiting.repo, waiting.issue, other)
    job = waiting.delivered(comment)
    agree_without_comment(waiting, job, "it was moved to", 1, tracked=False)
    assert re.search(r"\S+/acme/elsewhere/\S+", job.summary), job.summary
    assert waiting.state["currentPhaseStatus"] == "awaiting_human"


def test_a_deleted_issue_is_left_alone(waiting: Stage) -> None:
    comment = waiting.comment("/approve")
    waiting.issue.deleted = True
    job = waiting.delivered(comment)
    agree_without_comment(waiting, job, "the issue was deleted", 1, tracked=False)


# -- jobs that stop in the middle
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("done", [True, False])
def test_a_write_or_push_whose_answer_is_lost_is_there_once_and_nobody_is_troubled(
    waiting: Stage, *, done: bool
) -> None:
    waiting.hub.faults.status(r"POST .*/git-receive-pack", 502)
    waiting.hub.faults.waiting[-1].after = done
    for write in ("POST .*/pulls$", r"PATCH .*/comments/", r"POST .*/reactions$"):
        waiting.hub.faults.lost(write, after=done)
    job = heard(waiting.say("/approve"))
    assert (job.code, job.outcome) == (0, "done"), job.log
    waiting.hub.faults.lost(COMMENT, after=done)
    assert heard(waiting.say("/forge status")).code == 0
    assert len(waiting.said("reply occasion=status")) == 1
    assert waiting.said("reply occasion=github-007") == []
    finishes(waiting)


@pytest.mark.slow
def test_a_repository_without_a_commit_is_told_so_without_a_path_of_the_machine(
    stage: Stage,
) -> None:
    commit = stage.repo.bare.head("main")
    stage.repo.bare.set_ref("refs/heads/main", "")
    job = stage.label()
    assert (job.code, job.outcome) == (5, "refused"), job.log
    (said,) = stage.said("reply occasion=git-003")
    assert said.startswith("**There is no commit on the default branch, `main`.**")
    assert "Push one to `main`" in said
    assert "Then say `/forge`." in said
    assert str(stage.folder) not in said + job.summary
    stage.repo.bare.set_ref("refs/heads/main", commit)
    assert heard(stage.say("/forge")).outcome == "waiting"
