"""Tools and skills that agents ask for in a thread that a server leads: each is a step, made once."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot import test_calls_in_threads as calls
from tests.bot.stage import heard
from tests.bot.test_tool_and_skill import MODEL
from tests.cli.test_tools_in_a_run import ANALYST, CREATE, asks
from tests.fakes import team
from tests.fakes.github import FakeGitHub
from tests.temporal.scene import Server
from tests.temporal.test_threads_on_server import history, steps_of
from tests.temporal.thread_scene import ServedStage, served


@pytest.fixture
def stage(github: FakeGitHub, tmp_path: Path, server: Server) -> Iterator[ServedStage]:
    with served(github, tmp_path, server.address) as it:
        yield it


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
    assert steps_of(history(stage)).count("execute_mcp_tool") == 1


def test_a_tool_and_a_skill_are_a_step_each(stage: ServedStage) -> None:
    stage.hub.commit(stage.repo, "main", {**team.files(), "tests/test_next.py": None})
    title, _, body = team.REQUEST.partition("\n\n")
    stage.issue = stage.hub.issue(stage.repo, title, body, by="maint")
    stage.environ["FORGE_BOT_MODEL"] = MODEL
    stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
    stage.start_worker()
    assert heard(stage.label()).code == 0
    assert stage.visited() == "waiting", stage.log
    assert team.used(stage.state) == team.USED
    steps = Counter(steps_of(history(stage)))
    assert (steps["execute_mcp_tool"], steps["execute_skill"]) == (1, 1), steps
    assert heard(stage.say("/approve")).code == 0
    assert stage.visited() == "done", stage.log
    assert team.used(stage.state) == team.USED
    change = stage.repo.bare.texts(stage.offered, "CHANGES.md")["CHANGES.md"]
    assert team.ENTRY in change.splitlines()
