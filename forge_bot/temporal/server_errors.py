"""Turn errors of a Temporal server's protocol into errors of forge-bot."""

from typing import Any

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from forge_bot.errors import TemporalRefused, TemporalUnavailable
from forge_bot.sentences import say

UNREAD = "temporal.server_errors.unread"
"""The name of the sentence for a history that no worker can read."""


async def unread_by_worker(handle: WorkflowHandle[Any, Any]) -> str:
    """Return why a worker could not replay a workflow's history; empty if none failed."""
    failed = ""
    async for event in handle.fetch_history_events():
        if event.HasField("workflow_task_failed_event_attributes"):
            failed = event.workflow_task_failed_event_attributes.failure.message
        elif event.HasField("workflow_task_completed_event_attributes"):
            failed = ""
    return failed


def as_forge_error(
    error: RPCError, address: str, namespace: str
) -> TemporalUnavailable | TemporalRefused:
    """Return the error for an error of the server's protocol."""
    if error.status in {RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT}:
        return TemporalRefused(
            say("temporal.server_errors.no_namespace", address=address, namespace=namespace)
        )
    if error.status in {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}:
        return TemporalRefused(
            say("temporal.server_errors.no_access", address=address, namespace=namespace)
        )
    return TemporalUnavailable(
        say(
            "temporal.server_errors.no_answer",
            address=address or say("temporal.server_errors.of_this_command"),
        )
    )
