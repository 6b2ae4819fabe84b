"""Whole runs in the issue thread: the gate, the supervisor and the worker as processes, git over
HTTP, a scripted model.

`test_real_processes.py` has those that the real Python runs from its start.
"""

from pathlib import Path

import pytest

from tests.bot.kept import Kept
from tests.bot.stage import SECRET, Stage


def test_a_label_starts_a_run_that_asks_and_an_approval_leads_to_a_pull_request(
    kept: Kept, over: Kept, tmp_path: Path
) -> None:
    stage = kept.again(tmp_path)
    assert [(job.result, job.code) for job in over.jobs] == [("proceed", 0)] * 2
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert stage.state["currentPhaseStatus"] == "awaiting_human"

    stage = over.again(tmp_path)
    assert stage.state["currentPhaseStatus"] == "completed"
    pull = next(issue for issue in stage.repo.issues.values() if issue.pull is not None)
    assert pull.pull is not None
    assert pull.pull.head == stage.offered != stage.branch
    changed = stage.repo.bare.git("diff", "--name-only", f"main...{stage.offered}").split()
    assert changed
    assert not [name for name in changed if name.startswith(".specs/")]
    assert f"Closes #{stage.issue.number}" in (pull.body or "")
    assert (pull.pull.draft, [asked.login for asked in pull.pull.asked]) == (False, ["maint"])
    assert len(stage.said("tracking")) == 1
    assert "return None" in stage.files()["rota/schedule.py"]
    decision = stage.state["decisions"][0]
    assert decision["by"] == "maint"
    assert "#issuecomment-" in decision["via"]


def test_neither_token_nor_key_is_in_anything_that_can_be_read(over: Kept, tmp_path: Path) -> None:
    stage = over.again(tmp_path)
    log = "".join(job.log for job in over.jobs)
    tokens = list(stage.hub.tokens)
    assert len(tokens) == stage.jobs == len(over.jobs)
    everything = "\n".join(
        [
            log,
            *stage.files().values(),
            *(issue.body or "" for issue in stage.repo.issues.values()),
            *stage.said(),
        ]
    )
    assert not [secret for secret in (*tokens, SECRET) if secret in everything]


@pytest.mark.slow
def test_an_approval_of_a_version_that_has_changed_is_refused_with_the_new_one(
    waiting: Stage,
) -> None:
    path = next(name for name in waiting.files() if name.endswith("/design.md"))
    changed = waiting.files()[path] + "\nAnd one more thing.\n"
    waiting.repo.bare.commit(
        waiting.branch, {path: changed}, "By hand", "ann <a@b.c>", waiting.hub.clock.tick()
    )
    waiting.say("/approve")
    assert waiting.state["currentPhaseStatus"] == "awaiting_human"
    assert len(waiting.said("checkpoint")) == 2
    assert any("stale" in body for body in waiting.said("reply"))
    waiting.say("/approve")
    assert waiting.state["currentPhaseStatus"] == "completed"


@pytest.mark.slow
def test_a_lost_event_is_made_up_for_by_the_next_one_and_two_approvals_are_one(
    waiting: Stage,
) -> None:
    first = waiting.comment("/approve")
    second = waiting.comment("/approve", by="boss")
    assert waiting.delivered(second, "boss").code == 0
    assert waiting.state["currentPhaseStatus"] == "completed"
    assert waiting.delivered(first).code == 0
    assert [decision["by"] for decision in waiting.state["decisions"]] == ["maint"]
    assert "No question is open" in waiting.said("reply occasion=cannot")[0]
