"""Whole runs in the issue thread: the gate, the supervisor and the worker as processes, git over HTTP, a scripted model."""

import pytest

from tests.bot.stage import SECRET, Stage, heard


@pytest.mark.promise("bot-thread", "cli-work")
def test_a_label_starts_a_run_that_asks_and_an_approval_leads_to_a_pull_request(stage: Stage) -> None:
    began = stage.label()
    assert (began.result, began.code) == ("proceed", 0), began.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert stage.state["currentPhaseStatus"] == "awaiting_human"

    done = heard(stage.say("/approve"))
    assert done.code == 0, done.log
    assert stage.state["currentPhaseStatus"] == "completed"
    pull = next(issue for issue in stage.repo.issues.values() if issue.pull is not None)
    assert pull.pull is not None
    assert pull.pull.head == stage.branch
    assert f"Closes #{stage.issue.number}" in (pull.body or "")
    assert len(stage.said("tracking")) == 1
    assert "return None" in stage.files()["rota/schedule.py"]
    decision = stage.state["decisions"][0]
    assert decision["by"] == "maint"
    assert "#issuecomment-" in decision["via"]


@pytest.mark.promise("bot-nothing-in-public")
def test_neither_token_nor_key_is_in_anything_that_can_be_read(stage: Stage) -> None:
    log = stage.label().log + heard(stage.say("/approve")).log
    tokens = list(stage.hub.tokens)
    everything = "\n".join([log, *stage.files().values(), *(issue.body or "" for issue in stage.repo.issues.values()), *stage.said()])
    assert not [secret for secret in (*tokens, SECRET) if secret in everything]


def test_a_rejection_sends_the_design_back_with_its_notes_and_the_next_version_is_asked_with_what_changed(stage: Stage) -> None:
    stage.label()
    stage.say("/reject Say also what happens on the last day.")
    asked = stage.said("checkpoint")
    assert len(asked) == 2
    assert heard(stage.say("/approve")).code == 0
    assert stage.state["currentPhaseStatus"] == "completed"
    assert [decision["answer"] for decision in stage.state["decisions"]] == ["reject", "approve"]


@pytest.mark.promise("design-stale-approval")
def test_an_approval_of_a_version_that_has_changed_is_refused_with_the_new_one(stage: Stage) -> None:
    stage.label()
    path = next(name for name in stage.files() if name.endswith("/design.md"))
    changed = stage.files()[path] + "\nAnd one more thing.\n"
    stage.repo.bare.commit(stage.branch, {path: changed}, "By hand", "ann <a@b.c>", stage.hub.clock.tick())
    stage.say("/approve")
    assert stage.state["currentPhaseStatus"] == "awaiting_human"
    assert len(stage.said("checkpoint")) == 2
    assert any("stale" in body for body in stage.said("reply"))
    stage.say("/approve")
    assert stage.state["currentPhaseStatus"] == "completed"


@pytest.mark.promise("bot-same-event")
def test_the_same_event_twice_changes_nothing(stage: Stage) -> None:
    stage.label()
    comments = len(stage.issue.comments)
    head = stage.repo.bare.head(stage.branch)
    stage.label()
    assert len(stage.issue.comments) == comments
    assert stage.repo.bare.head(stage.branch) == head


@pytest.mark.promise("bot-lost-event")
def test_a_lost_event_is_made_up_for_by_the_next_one(stage: Stage) -> None:
    stage.label()
    stage.say("/approve", lost=True)
    status = heard(stage.say("/forge status"))
    assert status.code == 0
    assert stage.state["currentPhaseStatus"] == "completed"
    assert len(stage.said("reply occasion=status")) == 1


@pytest.mark.promise("bot-at-once")
def test_two_approvals_are_one(stage: Stage) -> None:
    stage.label()
    first = stage.comment("/approve")
    second = stage.comment("/approve", by="boss")
    assert stage.delivered(second, "boss").code == 0
    assert stage.delivered(first).code == 0
    assert [decision["by"] for decision in stage.state["decisions"]] == ["maint"]
    assert len(stage.said("reply occasion=already-answered")) == 1


@pytest.mark.promise("bot-strangers")
def test_a_stranger_starts_nothing_and_approves_nothing(stage: Stage) -> None:
    refused = heard(stage.say("/forge", by="stranger"))
    assert refused.result == "refused"
    assert stage.branches() == ["main"]
    stage.label()
    assert heard(stage.say("/approve", by="stranger")).result == "refused"
    assert heard(stage.say("/forge status")).code == 0
    assert stage.state["currentPhaseStatus"] == "awaiting_human"


def test_where_workflows_may_not_open_pull_requests_the_thread_says_how_to(stage: Stage) -> None:
    stage.repo.actions_may_open_pulls = False
    stage.label()
    assert heard(stage.say("/approve")).code == 0
    assert len(stage.said("reply occasion=pull-request-by-hand")) == 1


def test_a_run_can_be_abandoned_and_begun_anew(stage: Stage) -> None:
    stage.label()
    assert heard(stage.say("/abandon")).code == 0
    assert stage.state["currentPhaseStatus"] == "abandoned"
    again = heard(stage.say("/forge --effort S"))
    assert again.code == 0, again.log
    assert len([name for name in stage.branches() if name != "main"]) == 2


def test_what_is_not_configured_is_said_in_the_thread_in_the_summary_and_by_the_exit_code(stage: Stage) -> None:
    stage.environ["FORGE_BOT_MODEL"] = "anthropic:claude-sonnet-4-5"
    job = stage.label()
    assert job.code == 5
    assert "ANTHROPIC_API_KEY" in "".join(stage.said())
    assert "key" in job.summary
