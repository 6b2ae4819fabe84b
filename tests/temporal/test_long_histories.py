"""A workflow whose history grows long begins another one, and the run goes on."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from forge_bot.git import Repository
from forge_bot.temporal.run_place import workflow_id
from tests.mcp_server.test_four_doors import Way
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, clone
from tests.temporal.scene import server as started

pytestmark = pytest.mark.usefixtures("server")

SHORT = ("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=25")
"""The server says after so many events that another history should begin."""


def executions(place: Clone) -> list[WorkflowExecutionStatus | None]:
    """How the histories of the run's workflow ended."""

    async def listed() -> list[WorkflowExecutionStatus | None]:
        client = await Client.connect(place.server.address)
        name = workflow_id(Repository.find(place.path), place.run)
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
        statuses = executions(place)
        assert statuses.count(WorkflowExecutionStatus.CONTINUED_AS_NEW) >= 2, statuses
        assert statuses.count(WorkflowExecutionStatus.COMPLETED) == 1, statuses
        assert place.forge("run", TASK, "--effort", "S", "--yes", at=local).code == 3
        assert place.forge("approve", at=local).code == 0
        here, there = Way.left(local), Way.left(place.path)
        assert there.documents() == here.documents()
        assert there.state() == here.state()
