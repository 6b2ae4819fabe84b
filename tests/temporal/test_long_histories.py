"""A workflow whose history grows long begins another one, and the run goes on."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from forge_bot.temporal.thread_address import thread_workflow_id
from tests.bot.stage import heard
from tests.fakes.github import FakeGitHub
from tests.mcp_server.test_four_doors import Way
from tests.temporal.conftest import TASK
from tests.temporal.scene import clone
from tests.temporal.scene import server as started
from tests.temporal.test_killed_workers import answers_heard
from tests.temporal.thread_scene import served

pytestmark = pytest.mark.usefixtures("server")

SHORT = ("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=25")
"""The server says after so many events that another history should begin."""


def executions(address: str, name: str) -> list[WorkflowExecutionStatus | None]:
    """How the histories of a workflow ended."""

    async def listed() -> list[WorkflowExecutionStatus | None]:
        client = await Client.connect(address)
        found = client.list_workflows(f'WorkflowId = "{name}"')
        return [each.status async for each in found]

    return asyncio.run(listed())


def test_a_run_over_many_short_histories_leaves_what_the_local_host_leaves(tmp_path: Path) -> None:
    with (
        started(tmp_path / "server", *SHORT) as its_own,
        clone(tmp_path / "clone", its_own) as place,
    ):
        local = place.again()
        place.start_worker()
        said = place.begin(TASK)
        assert said.code == 3, said.out + said.err
        done = place.forge("approve")
        assert done.code == 0, done.out + done.err
        statuses = executions(its_own.address, place.workflow())
        assert statuses.count(WorkflowExecutionStatus.CONTINUED_AS_NEW) >= 2, statuses
        assert statuses.count(WorkflowExecutionStatus.COMPLETED) == 1, statuses
        assert place.forge("run", TASK, "--effort", "S", "--yes", at=local).code == 3
        assert place.forge("approve", at=local).code == 0
        here, there = Way.left(local), Way.left(place.path)
        assert there.documents() == here.documents()
        assert there.state() == here.state()


def test_a_thread_over_many_short_histories_asks_and_says_nothing_twice(
    github: FakeGitHub, tmp_path: Path
) -> None:
    with (
        started(tmp_path / "server", *SHORT) as its_own,
        served(github, tmp_path, its_own.address) as stage,
    ):
        stage.hub.add_label(stage.repo, stage.issue, "forge:S", by="maint")
        stage.start_worker()
        assert heard(stage.label()).code == 0
        assert stage.visited() == "waiting", stage.log
        assert heard(stage.say("/approve")).code == 0
        assert stage.visited() == "done", stage.log
        name = thread_workflow_id(stage.hub.url, stage.repo.full_name, stage.issue.number)
        ends = executions(its_own.address, name)
        assert ends.count(WorkflowExecutionStatus.CONTINUED_AS_NEW) >= 2, ends
        (journal,) = stage.folder.rglob("journal.jsonl")
        assert set(answers_heard(journal).values()) == {1}
        assert len(stage.said("tracking")) == len(stage.said("checkpoint")) == 1
        assert stage.pull.pull is not None
        assert stage.pull.pull.head == stage.offered
