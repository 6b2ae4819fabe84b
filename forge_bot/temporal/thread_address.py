"""Names on a Temporal server by which the Action and the workers find the same thread, and the
errors of its protocol. Standard library only: the Action has no more than the client beside it.
"""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forge_bot.errors import TemporalRefused, TemporalUnavailable

if TYPE_CHECKING:
    from temporalio.service import RPCError

THREAD_WORKFLOW = "ForgeThreadWorkflow"
WAKE = "wake"


def thread_queue(server: str, repository: str) -> str:
    """Return the task queue of the workers for the issues of a repository, by its owner/name."""
    return f"forge-bot/{urlsplit(server).netloc}/{repository}".casefold()


def thread_workflow_id(server: str, repository: str, issue: int) -> str:
    """Return the id of the workflow that leads the run of an issue."""
    return f"{thread_queue(server, repository)}/{issue}"


def make_forge_error(
    error: "RPCError", address: str, namespace: str
) -> TemporalUnavailable | TemporalRefused:
    """Return the error for an error of the server's protocol."""
    from temporalio.service import RPCStatusCode

    if error.status in {RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT}:
        return TemporalRefused(f"{address} has no namespace {namespace!r}.")
    if error.status in {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}:
        return TemporalRefused(f"{address} refuses access to {namespace!r}.")
    return TemporalUnavailable(
        "The Temporal server {address} does not answer.".format(
            address=address or "of this command"
        )
    )
