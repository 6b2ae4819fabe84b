"""Turn errors of a Temporal server's protocol into errors of forge-bot."""

from typing import Any

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from forge_bot.errors import TemporalRefused, TemporalUnavailable

UNREAD = "temporal.server_errors.unread"
"""The name of the sentence for a history that no worker can read."""


async def find_replay_failure(handle: WorkflowHandle[Any, Any]) -> str:
    """Return why a worker could not replay a workflow's history; empty if none failed."""
    failed = ""
    async for event in handle.fetch_history_events():
        if event.HasField("workflow_task_failed_event_attributes"):
            failed = event.workflow_task_failed_event_attributes.failure.message
        elif event.HasField("workflow_task_completed_event_attributes"):
            failed = ""
    return failed


def make_forge_error(
    error: RPCError, address: str, namespace: str
) -> TemporalUnavailable | TemporalRefused:
    """Return the error for an error of the server's protocol."""
    if error.status in {RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT}:
        return TemporalRefused(f"{address} has no namespace {namespace!r}.")
    if error.status in {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}:
        return TemporalRefused(f"{address} refuses access to {namespace!r}.")
    return TemporalUnavailable(
        "The Temporal server {address} does not answer.".format(
            address=address or "of this command"
        )
    )
