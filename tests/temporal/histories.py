"""What the history of a run says."""

from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter

from forge_bot.temporal.payloads import ActionWorkflowResult
from tests.mcp_server.host import Json


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
