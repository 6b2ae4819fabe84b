"""Workers of another version than the one that a run was led by."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from forge_bot.bot.worker_messages import WorkerStopped
from forge_bot.temporal.payloads import RunBegin, RunStanding, StepOrder
from forge_bot.temporal.thread_address import ORCHESTRATION
from tests.fakes.sample import Said
from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, clone
from tests.temporal.scene import server as started


@workflow.defn(name="ForgeRunWorkflow")
class LaterWorkflow:
    """A workflow of a later version: it begins with work that today's does not know."""

    @workflow.run
    async def run(self, begin: RunBegin) -> str:
        await workflow.execute_activity(
            "drink_tea",
            StepOrder(begin=begin),
            task_queue=begin.queue,
            start_to_close_timeout=timedelta(minutes=1),
        )
        return "completed"

    @workflow.query
    def standing(self) -> RunStanding:
        # The command that began the run hears that and ends.
        stop = WorkerStopped(code="TEST-001", message="No tea.", exit_code=5)
        return RunStanding(trouble=stop)


async def first_activity(client: Client, place: Clone) -> None:
    """Wait until the history has what the workflow begins with. A query may be answered before."""
    events = client.get_workflow_handle(place.workflow()).fetch_history_events(wait_new_event=True)
    async for event in events:
        if event.HasField("activity_task_scheduled_event_attributes"):
            return


async def connected(place: Clone) -> Client:
    return await Client.connect(place.server.address, data_converter=pydantic_data_converter)


@pytest.mark.usefixtures("server")  # skipped where its program is not installed
def test_a_history_that_a_worker_cannot_read_is_told_and_the_run_goes_on_from_its_branch(
    tmp_path: Path,
) -> None:
    async def begun_by_later_version(place: Clone) -> Said:
        client = await connected(place)
        leading = Worker(
            client,
            task_queue=ORCHESTRATION,
            workflows=[LaterWorkflow],
            workflow_runner=UnsandboxedWorkflowRunner(),
        )
        async with leading:
            place.start_worker(None, "--for", "execution", "--for", "publishing")
            said = await asyncio.to_thread(place.begin, TASK)
            await first_activity(client, place)
            return said

    # A server of its own: on that of the other tests their workers would lead the run.
    (tmp_path / "server").mkdir()
    with started(tmp_path / "server") as own, clone(tmp_path / "clone", own) as place:
        asyncio.run(begun_by_later_version(place))
        place.start_worker(None, "--for", "orchestration")
        said = place.forge("resume")
        assert (said.code, "TEMPORAL-007" in said.err) == (5, True), said.out + said.err
        assert "another version of forge-bot" in said.err
        here = place.forge("resume", "--on", "local")
        assert (here.code, "Human Reviews Design" in here.out) == (3, True), here.out + here.err
