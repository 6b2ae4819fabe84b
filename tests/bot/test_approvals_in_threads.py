"""Rules on who may approve, in a thread: whose yes counts, who is waited for, what the record
and the pull request say.
"""

import json

import pytest

from tests.bot.stage import PERMISSIONS, Stage, heard
from tests.fakes.github import Role

TWO = "approvals: {by: [ada, acme/core], not: requester, count: 2}\n"
OWNERS = "/rota/ @ada\n/tests/ @acme/core\n"


def set_rules(stage: Stage, rules: str, owners: str = OWNERS) -> None:
    """Put rules and code owners on the default branch, and people beside `maint` and `boss`."""
    files: dict[str, str | bytes | None] = {
        ".forge/config.yml": rules,
        ".github/CODEOWNERS": owners,
    }
    stage.hub.commit(stage.repo, "main", files)
    for login in ("ada", "tess"):
        stage.hub.member(stage.repo, login, Role.WRITE)
    stage.hub.teams["acme/core"] = ("tess",)
    stage.permissions = {**PERMISSIONS, "members": "read"}


def said_to(stage: Stage, by: str, words: str = "/approve") -> str:
    """What somebody is answered, or the question where nobody is."""
    before = stage.said("reply")
    job = heard(stage.say(words, by))
    assert job.code in {0, 3}, job.log
    return "\n".join(stage.said("reply")[len(before) :]) or stage.said("checkpoint")[-1]


def test_two_people_approve_together_and_all_texts_name_both(waiting: Stage) -> None:
    set_rules(waiting, TWO)
    assert "not yours to answer" in (refused := said_to(waiting, "maint"))
    assert "Waiting for 2 of `ada`, `acme/core`; 0 of 2. `maint` began the run" in refused
    said_to(waiting, "ada")
    assert "Waiting for @acme/core; 1 of 2 (`ada`)." in waiting.said("checkpoint")[-1]
    assert len(waiting.said("checkpoint")) == 1
    assert (waiting.state["gate"]["name"], waiting.state["decisions"]) == ("checkpoint-a", [])
    assert "You approved this already" in said_to(waiting, "ADA")
    # Nothing but the record and the thread is left of the jobs before.
    assert said_to(waiting, "tess")
    state = waiting.state
    assert state["currentPhaseStatus"] == "completed"
    assert [one["by"] for one in (*state["agreed"], *state["decisions"])] == ["ada", "tess"]
    said = waiting.pull.body or ""
    assert "approved by `ada`" in said
    assert "approved by `tess`" in said
    asked = [each for each in waiting.hub.exchanges if each.path.endswith("/requested_reviewers")]
    assert [each.body["reviewers"] for each in asked] == [["ada"], ["tess"]]
    messages = waiting.repo.bare.git("log", "--format=%B", f"main..{waiting.offered}")
    assert "Approved-by: ada via " in messages
    assert "Approved-by: tess via " in messages


def test_an_approval_that_somebody_writes_into_the_record_does_not_count(waiting: Stage) -> None:
    set_rules(waiting, TWO)
    said_to(waiting, "ada")
    name = next(name for name in waiting.files() if name.endswith("/reports.jsonl"))
    recorded = waiting.files()[name]
    forged = json.loads(recorded.splitlines()[-1]) | {"key": "comment-7", "by": "tess"}
    waiting.hub.commit(waiting.repo, waiting.branch, {name: f"{recorded}{json.dumps(forged)}\n"})
    assert "You approved this already" in (told := said_to(waiting, "ada"))
    assert "Waiting for `acme/core`; 1 of 2 (`ada`)." in told


@pytest.mark.slow
def test_an_approval_of_one_version_is_none_of_the_next(waiting: Stage) -> None:
    set_rules(waiting, TWO)
    said_to(waiting, "ada")
    said_to(waiting, "maint", "/reject say it in fewer words")
    question = waiting.said("checkpoint")[-1]
    assert "Waiting for 2 of @ada, @acme/core; 0 of 2." in question
    said_to(waiting, "tess")
    assert "Waiting for one of @ada, @acme/core; 1 of 2 (`tess`)." in waiting.said("checkpoint")[-1]
    assert waiting.state["gate"]["name"] == "checkpoint-a"


@pytest.mark.slow
def test_a_team_that_the_token_may_not_read_leaves_the_question_to_an_admin(
    waiting: Stage,
) -> None:
    set_rules(waiting, "approvals: {by: [acme/core]}\n")
    waiting.permissions = PERMISSIONS
    assert "An admin is asked, since `acme/core` cannot be asked" in said_to(waiting, "tess")
    said_to(waiting, "boss")
    assert waiting.state["decisions"][0]["by"] == "boss"


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ("{by: [other/team]}", "`other/team` cannot be asked: no longer here, or not to be read"),
        ("{by: [acme/gone]}", "`acme/gone` cannot be asked: no longer here, or not to be read"),
        ("{by: [left]}", "`left` cannot be asked: no longer here, or not to be read"),
        ("{by: [CODEOWNERS]}", "no path is known yet"),
        ("{by: [maint], not: requester}", "too few others can"),
    ],
)
def test_where_nobody_can_be_found_out_an_admin_is_asked(
    waiting: Stage, rules: str, why: str
) -> None:
    set_rules(waiting, f"approvals: {rules}\n")
    refused = said_to(waiting, "tess")
    assert f"Waiting for somebody with the role admin. An admin is asked, since {why}." in refused
    assert waiting.state["decisions"] == []


@pytest.mark.slow
def test_for_paths_that_the_design_did_not_name_their_owners_are_asked_before_publication(
    waiting: Stage,
) -> None:
    set_rules(waiting, "approvals: {by: [CODEOWNERS]}\n")
    question = said_to(waiting, "boss")
    assert waiting.state["gate"]["reason"] == "unverified_approval"
    assert "for what changed since, the rules on approvals ask for more people" in question
    assert "Waiting for @ada." in question
    assert "Waiting for @acme/core." in question
    assert "not yours to answer" in said_to(waiting, "boss")
    assert "Waiting for @acme/core." in said_to(waiting, "ada")
    said_to(waiting, "tess")
    assert waiting.state["currentPhaseStatus"] == "completed"


def test_a_run_with_auto_does_not_begin_where_rules_name_who_approves(stage: Stage) -> None:
    set_rules(stage, TWO)
    job = heard(stage.say("/forge --auto"))
    assert job.code != 0
    assert "leave nothing to --auto" in stage.said()[-1]
    assert stage.branches() == ["main"]
