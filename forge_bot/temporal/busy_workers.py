"""Find out whether a worker is at work on a step, and so asks the server for no further one."""

from contextlib import suppress

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client
from temporalio.service import RPCError

_RUNS = 'WorkflowType = "ForgeRunWorkflow" AND ExecutionStatus = "Running"'
_STARTED = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED


async def at_work(client: Client, clone: str, queue: str) -> bool:
    """Return whether a step from a task queue is under way in any run of a clone, named by its own
    queue. A worker without room for another step does not ask for any, however long these take; the
    server takes a step from one that gives no sign of life.
    """
    async for each in client.list_workflows(_RUNS):
        if each.id.startswith(f"{clone}/"):
            with suppress(RPCError):
                known = await client.get_workflow_handle(each.id).describe()
                if any(
                    step.state == _STARTED
                    # Older servers do not name the queue.
                    and step.activity_options.task_queue.name in {"", queue}
                    for step in known.raw_description.pending_activities
                ):
                    return True
    return False
