"""Names on a Temporal server by which the Action and the workers find the same thread. Standard
library only: the Action has no more than the client beside it.
"""

from urllib.parse import urlsplit

THREAD_WORKFLOW = "ForgeThreadWorkflow"
WAKE = "wake"


def thread_queue(server: str, repository: str) -> str:
    """Return the task queue of the workers for the issues of a repository, by its owner/name."""
    return f"forge-bot/{urlsplit(server).netloc}/{repository}".casefold()


def thread_workflow_id(server: str, repository: str, issue: int) -> str:
    """Return the id of the workflow that leads the run of an issue."""
    return f"{thread_queue(server, repository)}/{issue}"
