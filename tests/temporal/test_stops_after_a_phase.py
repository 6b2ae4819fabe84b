"""Runs on a server that are to stop after a phase: their workflow ends there, and begins again."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from tests.temporal.conftest import TASK
from tests.temporal.scene import Clone, Server, clone


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Iterator[Clone]:
    with clone(tmp_path, server) as it:
        it.start_worker()
        yield it


def status(place: Clone) -> WorkflowExecutionStatus | None:
    """The status of the run's workflow on the server."""

    async def asked() -> WorkflowExecutionStatus | None:
        client = await Client.connect(place.server.address)
        return (await client.get_workflow_handle(place.workflow()).describe()).status

    return asyncio.run(asked())


def test_a_run_stops_after_the_phase_and_goes_on_with_the_next_command(place: Clone) -> None:
    said = place.begin(TASK, "--until", "analysis")
    assert said.code == 3, said.out + said.err
    assert "resume" in said.out
    assert status(place) is WorkflowExecutionStatus.COMPLETED
    stood = place.reports()
    assert not [line for line in stood if '"type":"gate_shown"' in line]
    asked = place.forge("resume")
    assert (asked.code, "Human Reviews Design" in asked.out) == (3, True), asked.out + asked.err
    assert place.reports()[: len(stood)] == stood
    assert status(place) is WorkflowExecutionStatus.RUNNING

    stopped = place.forge("approve", "--until", "implementation")
    assert stopped.code == 3, stopped.out + stopped.err
    assert status(place) is WorkflowExecutionStatus.COMPLETED
    done = place.forge("resume")
    assert done.code == 0, done.out + done.err


def test_a_phase_that_the_run_does_not_have_is_refused(place: Clone) -> None:
    said = place.begin(TASK, "--until", "tea")
    assert (said.code, "tea" in said.err) == (2, True), said.out + said.err
