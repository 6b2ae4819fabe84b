"""Histories of earlier versions replay: a run that a server led before an upgrade goes on after it.

FORGE_GOLDEN=renew stores the one of this version anew; those of earlier versions stay as they are.
"""

import base64
import json
import os
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from forge_bot import __version__
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from forge_bot.temporal.temporal_worker import workflow_runner
from tests.mcp_server.host import Json
from tests.temporal.scene import Clone

STORED = Path(__file__).parents[1] / "fixtures" / "temporal_histories"


def replayer() -> Replayer:
    return Replayer(
        workflows=[ForgeRunWorkflow],
        data_converter=pydantic_data_converter,
        workflow_runner=workflow_runner(),
    )


def _scrubbed(value: Any, folder: str) -> Any:
    """The same without the folder it was made in and without the machine's name."""
    if isinstance(value, list):
        return [_scrubbed(part, folder) for part in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value.replace(folder, "/clone") if isinstance(value, str) else value
    whole = cast("Json", value)
    kept = {name: _scrubbed(part, folder) for name, part in whole.items() if name != "identity"}
    if set(whole) >= {"metadata", "data"}:
        text = base64.b64decode(whole["data"]).decode().replace(folder, "/clone")
        kept["data"] = base64.b64encode(text.encode()).decode()
    return kept


def test_the_history_of_this_version_is_stored(over: Clone) -> None:
    file = STORED / f"{__version__}-small.json"
    history = _scrubbed(over.history().to_json_dict(), str(over.folder))
    if os.environ.get("FORGE_GOLDEN") == "renew":
        STORED.mkdir(exist_ok=True)
        file.write_text(json.dumps(history, separators=(",", ":")) + "\n", encoding="utf-8")
    assert kinds(json.loads(file.read_text(encoding="utf-8"))) == kinds(history)


def kinds(history: Json) -> list[str]:
    """The activities of a history, in order."""
    found = (event.get("activityTaskScheduledEventAttributes") for event in history["events"])
    return [each["activityType"]["name"] for each in found if each]


HISTORIES = {file.stem: file.read_text(encoding="utf-8") for file in STORED.glob("*.json")}


@pytest.mark.parametrize("name", sorted(HISTORIES))
async def test_a_stored_history_replays(name: str) -> None:
    history = WorkflowHistory.from_json("run", HISTORIES[name])
    result = await replayer().replay_workflow(history, raise_on_replay_failure=False)
    assert result.replay_failure is None


async def test_a_history_of_other_work_does_not_replay() -> None:
    text = HISTORIES[max(HISTORIES)].replace('"name":"setup"', '"name":"tea"')
    history = WorkflowHistory.from_json("run", text)
    result = await replayer().replay_workflow(history, raise_on_replay_failure=False)
    assert isinstance(result.replay_failure, NondeterminismError)
