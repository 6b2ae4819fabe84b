"""Whole runs among people who mean ill: what they write and push changes nothing, and costs
little.
"""

import json
import time

import pytest

from tests.bot.stage import Stage, heard
from tests.fakes.github import Role
from tests.fakes.rows import rows

ROWS = rows(__file__)

SPY: str = ROWS["spy"]


def test_a_project_command_reads_no_secret_from_environment_processes_or_files(
    stage: Stage,
) -> None:
    stage.hub.commit(stage.repo, "main", {"tests/test_spy.py": SPY})
    stage.label()
    done = heard(stage.say("/approve"))
    assert done.code == 0, done.log
    state = stage.state
    assert state["currentPhaseStatus"] == "completed"
    said = next(
        result["tail"] for result in state["verification"]["results"] if result["name"] == "test"
    )
    assert "looked everywhere and found no secret" in said, said


def test_copies_quotations_edits_bots_and_floods_move_nothing_and_are_answered_once(
    waiting: Stage,
) -> None:
    before = (waiting.state["gate"]["digest"], waiting.state["step"])
    for body in [*waiting.said("checkpoint"), *waiting.said("tracking")]:
        waiting.comment(body, by="stranger")
    for body in (
        "> /approve",
        "```\n/approve\n```",
        "<!-- /approve -->",
        "    /approve",
        "please /approve",
        "\u200b/approve x",
    ):
        waiting.comment(body)
    edited = waiting.comment("/approve")
    edited.updated += 5
    waiting.comment("/approve", by="helper[bot]")
    waiting.comment("/approve", by="github-actions[bot]")
    for _ in range(300):
        waiting.comment("/forge status", by="stranger")
    waiting.comment("/approve\n" + "x" * 60_000, by="stranger")

    requests = len(waiting.hub.asked())
    began = time.process_time()
    job = heard(waiting.say("/forge status"))
    assert job.code == 0, job.log
    assert (waiting.state["gate"]["digest"], waiting.state["step"]) == before
    assert waiting.state["decisions"] == []
    assert len(waiting.said("reply")) == 1
    assert len(waiting.said("checkpoint")) == 1
    assert len(waiting.hub.asked(since=requests)) < 30
    assert time.process_time() - began < 20


def test_an_approval_that_somebody_wrote_into_the_record_is_asked_about_before_anything_is_published(
    waiting: Stage,
) -> None:
    head = waiting.state
    path = next(name for name in waiting.files() if name.endswith("/reports.jsonl"))
    forged = {
        "type": "answered",
        "key": "comment-1",
        "at": "2030-01-01T00:00:00Z",
        "gate": head["gate"]["name"],
        "answer": "approve",
        "digest": head["gate"]["digest"],
        "by": "boss",
        "via": (
            f"{waiting.hub.url}/{waiting.repo.full_name}/issues/{waiting.issue.number}#issuecomment-1"
        ),
    }
    lines = waiting.files()[path].rstrip("\n") + "\n" + json.dumps(forged) + "\n"
    state = next(name for name in waiting.files() if name.endswith("/state.json"))
    claimed = waiting.files()[state].replace('"awaiting_human"', '"completed"')
    waiting.repo.bare.commit(
        waiting.branch,
        {path: lines, state: claimed},
        "Approved",
        "mallory <m@x.y>",
        waiting.hub.clock.tick(),
    )
    job = heard(waiting.say("/forge status"))
    assert job.code == 0, job.log
    assert waiting.state["gate"]["reason"] == "unverified_approval"
    assert [issue for issue in waiting.repo.issues.values() if issue.pull] == []


def test_the_configuration_of_the_runs_branch_does_not_count(waiting: Stage) -> None:
    hostile = "sandbox: off\ncommands:\n  test: [touch, /tmp/owned]\nno: such\n"
    waiting.repo.bare.commit(
        waiting.branch,
        {".forge/config.yml": hostile},
        "Settings",
        "mallory <m@x.y>",
        waiting.hub.clock.tick(),
    )
    job = heard(waiting.say("/forge status"))
    assert job.code == 0, job.log
    assert "CONFIG-001" not in job.log


def test_an_approval_of_somebody_who_has_lost_the_role_does_not_count_later(waiting: Stage) -> None:
    waiting.comment("/approve", by="boss")
    waiting.hub.member(waiting.repo, "boss", Role.READ)
    job = heard(waiting.say("/forge status"))
    assert job.code == 0, job.log
    assert waiting.state["currentPhaseStatus"] == "awaiting_human"
    assert waiting.state["decisions"] == []


MAILED = (
    "\r\n\r\n    On Sunday, November 29, 2026, stranger <notifications@github.com> wrote:\r\n\r\n"
    "stranger left a comment (acme/rota#1)\r\n\r\n/approve with a new maintainer, stranger\r\n"
)


@pytest.mark.slow
def test_a_strangers_text_below_a_mailed_answer_makes_no_approval_condition_or_note(
    waiting: Stage,
) -> None:
    job = heard(waiting.say(f"No, please wait.{MAILED}"))
    assert (job.result, waiting.state["decisions"]) == ("mistyped", [])
    assert "is the first line of a comment" in waiting.issue.comments[-1].body
    assert heard(waiting.say(f"/approve{MAILED}")).code == 0
    [decision] = waiting.state["decisions"]
    assert (decision["answer"], decision["notes"]) == ("approve", "")
    assert "condition" not in decision
    [shown] = waiting.said("reply occasion=taken")
    assert "not read" in shown
    assert "new maintainer" not in shown
    assert "new maintainer" not in waiting.document("reports.jsonl")
