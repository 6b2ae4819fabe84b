"""Histories of earlier versions replay: a run that a server led before an upgrade goes on after it.

FORGE_GOLDEN=renew stores the one of this version anew; those of earlier versions stay as they are.
"""

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from forge_bot import __version__
from forge_bot.temporal.action_workflow import ForgeActionWorkflow
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from forge_bot.temporal.temporal_worker import workflow_runner
from forge_bot.temporal.thread_workflow import ForgeThreadWorkflow
from tests.temporal.histories import STORED, check_stored, led_as
from tests.temporal.scene import Clone


def replayer() -> Replayer:
    return Replayer(
        workflows=[ForgeRunWorkflow, ForgeActionWorkflow, ForgeThreadWorkflow],
        data_converter=pydantic_data_converter,
        workflow_runner=workflow_runner(),
    )


def test_the_history_of_this_version_is_stored(over: Clone) -> None:
    check_stored("small", over.history(), over.folder)


HISTORIES = {file.stem: file.read_text(encoding="utf-8") for file in STORED.glob("*.json")}


@pytest.mark.parametrize("name", sorted(HISTORIES))
async def test_a_stored_history_replays(name: str) -> None:
    history = WorkflowHistory.from_json(led_as(HISTORIES[name]), HISTORIES[name])
    result = await replayer().replay_workflow(history, raise_on_replay_failure=False)
    assert result.replay_failure is None


async def test_a_history_of_other_work_does_not_replay() -> None:
    text = HISTORIES[f"{__version__}-small"].replace('"name":"setup"', '"name":"tea"')
    history = WorkflowHistory.from_json("run", text)
    result = await replayer().replay_workflow(history, raise_on_replay_failure=False)
    assert isinstance(result.replay_failure, NondeterminismError)
