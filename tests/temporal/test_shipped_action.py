"""The shipped action with the address of a Temporal server, called as a consumer does: its job hands
each event over, and a worker does the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from forge_bot.forge.github import workflow_files as workflow_file
from tests.actions.conftest import WORKFLOWS
from tests.actions.runner import ACTION, KEY, RELEASE, Runner, missing, shipped
from tests.actions.test_action import green, passes
from tests.bot.stage import SECRET
from tests.fakes.github import FakeGitHub
from tests.temporal.scene import Server
from tests.temporal.thread_scene import ServedStage

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@dataclass
class ServedRunner(Runner, ServedStage):
    """A stage whose jobs are workflows that hand their events to a server."""


def consumer(address: str) -> str:
    """The workflow that `init` writes, with the server in the place of the model's key."""
    before, key, _ = workflow_file.workflow_text(RELEASE, KEY).partition("        env:\n")
    assert key
    return f"{before}        with:\n          temporal-address: {address}\n"


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path, server: Server) -> Iterator[ServedRunner]:
    it = ServedRunner(github, tmp_path / "jobs", tmp_path / "script.jsonl", address=server.address)
    it.files_here = {f"{WORKFLOWS}/forge-bot.yml": consumer(server.address)}
    it.uses = {ACTION: shipped(tmp_path / "action")}
    it.hub.commit(it.repo, "main", {"tests/test_next.py": None})
    it.hub.add_label(it.repo, it.issue, "forge:S", by="maint")
    try:
        yield it
    finally:
        it.stop()


def test_jobs_that_hand_their_events_over_lead_from_a_label_to_a_pull_request(
    stage: ServedRunner, tmp_path: Path
) -> None:
    stage.start_worker()
    asked = green(stage.label())
    assert "has it." in asked.summary
    assert stage.ended() == "waiting", stage.log
    assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
    assert stage.state["currentPhaseStatus"] == "awaiting_human"

    done = green(stage.say("/approve"))
    assert stage.ended() == "done", stage.log
    assert stage.state["currentPhaseStatus"] == "completed"
    assert stage.pull.pull is not None
    assert (stage.pull.pull.head, stage.pull.pull.draft) == (stage.offered, False)
    passes(stage, tmp_path / "merged")
    assert SECRET not in asked.log + done.log
