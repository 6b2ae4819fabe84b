"""Tools and skills that agents ask for in a thread that a server leads: each is a workflow, and is
called once.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot import test_calls_in_threads as calls
from tests.bot.stage import heard
from tests.bot.test_tool_and_skill import MODEL
from tests.cli.test_tools_in_a_run import ANALYST, CREATE, asks
from tests.fakes import team
from tests.fakes.github import FakeGitHub
from tests.mcp_server.host import Json
from tests.temporal.histories import actions_led
from tests.temporal.scene import Server
from tests.temporal.test_threads_on_server import history, steps_of, workflow_of
from tests.temporal.thread_scene import ServedStage, served


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path, server: Server) -> Iterator[ServedStage]:
    with served(github, tmp_path, server.address) as it:
        yield it


def led(stage: ServedStage) -> dict[str, Json]:
    """The results of the workflows of actions, by the ends of their names."""
    return asyncio.run(actions_led(stage.address, workflow_of(stage), history(stage)))


def test_a_call_that_a_person_approved_is_made_once(stage: ServedStage) -> None:
    calls.configured(stage)
    stage.model({(*ANALYST, "1.1"): asks(CREATE), (*ANALYST, "2.1"): asks(CREATE)})
    stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
    stage.start_worker()
    assert heard(stage.label()).code == 0
    assert stage.visited() == "waiting", stage.log
    assert calls.made(stage) == []
    assert heard(stage.say("/approve")).code == 0
    assert stage.visited() == "waiting", stage.log
    assert calls.made(stage) == [["create", {"text": "a ticket"}]]
    assert stage.state["calls"][0]["status"] == "done"
    assert stage.state["gate"]["name"] == "checkpoint-a"
    (key,) = led(stage)
    assert led(stage)[key] == {
        "capability": "mcp_tickets_create",
        "capability_type": "mcp_tool",
        "outcome": "done",
        "success": True,
    }
    assert steps_of(history(stage, key)) == ["execute_mcp_tool"]
    assert "execute_mcp_tool" not in steps_of(history(stage))


def test_a_tool_and_a_skill_are_a_workflow_each(stage: ServedStage) -> None:
    stage.hub.commit(stage.repo, "main", {**team.files(), "tests/test_next.py": None})
    title, _, body = team.REQUEST.partition("\n\n")
    stage.issue = stage.hub.issue(stage.repo, title, body, by="maint")
    stage.environ["FORGE_BOT_MODEL"] = MODEL
    stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
    stage.start_worker()
    assert heard(stage.label()).code == 0
    assert stage.visited() == "waiting", stage.log
    assert team.used(stage.state) == team.USED
    tool, skill = led(stage)
    assert {each["outcome"] for each in led(stage).values()} == {"ok"}
    assert steps_of(history(stage, tool)) == ["execute_mcp_tool"]
    assert steps_of(history(stage, skill)) == ["execute_skill"]
    assert heard(stage.say("/approve")).code == 0
    assert stage.visited() == "done", stage.log
    assert team.used(stage.state) == team.USED
    change = stage.repo.bare.texts(stage.offered, "CHANGES.md")["CHANGES.md"]
    assert team.ENTRY in change.splitlines()
