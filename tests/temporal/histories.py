"""Histories of runs that are stored, so that later versions can be tested to read them."""

import base64
import json
import os
from pathlib import Path
from typing import Any, cast

from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter

from forge_bot import __version__
from forge_bot.temporal.payloads import ActionWorkflowResult
from tests.mcp_server.host import Json

STORED = Path(__file__).parents[1] / "fixtures" / "temporal_histories"


def check_stored(name: str, found: WorkflowHistory, folder: Path) -> None:
    """Assert that the stored history of this version has the same steps; `FORGE_GOLDEN=renew`
    stores it anew.
    """
    file = STORED / f"{__version__}-{name}.json"
    history = _scrubbed(found.to_json_dict(), str(folder))
    if os.environ.get("FORGE_GOLDEN") == "renew":
        STORED.mkdir(exist_ok=True)
        file.write_text(json.dumps(history, separators=(",", ":")) + "\n", encoding="utf-8")
    assert kinds(json.loads(file.read_text(encoding="utf-8"))) == kinds(history)


def kinds(history: Json) -> list[str]:
    """The activities of a history, in order."""
    found = (event.get("activityTaskScheduledEventAttributes") for event in history["events"])
    return [each["activityType"]["name"] for each in found if each]


async def actions_led(address: str, above: str, history: WorkflowHistory) -> dict[str, Json]:
    """The results of the workflows of actions that the workflow `above` led, by the ends of their
    names.
    """
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    found: dict[str, Json] = {}
    for event in history.events:
        if event.HasField("child_workflow_execution_completed_event_attributes"):
            said = event.child_workflow_execution_completed_event_attributes
            name = said.workflow_execution.workflow_id
            handle = client.get_workflow_handle(name, result_type=ActionWorkflowResult)
            assert name.startswith(f"{above}/")
            assert name not in found
            ended = await handle.result()
            found[name.removeprefix(f"{above}/")] = ended.result.model_dump(mode="json")
    return found


def led_as(history: str) -> str:
    """The name of the workflow, as those that it started know it."""
    attributes = "startChildWorkflowExecutionInitiatedEventAttributes"
    started = (event.get(attributes) for event in json.loads(history)["events"])
    return next((each["workflowId"].rpartition("/")[0] for each in started if each), "run")


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
