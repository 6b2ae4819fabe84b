"""Names on a Temporal server by which the Action and the workers find the same thread. Standard
library only: the Action has no more than the client beside it.
"""

from urllib.parse import urlsplit

ORCHESTRATION = "forge-bot"
"""The task queue of the workflows themselves."""

THREAD_WORKFLOW = "ForgeThreadWorkflow"
HEAR = "hear"
WAKE = "wake"

LIMITED = "github-limited"
"""The word for a visit that GitHub's own limit has ended."""


def thread_queue(server: str, repository: str) -> str:
    """Return the task queue of the workers for the issues of a repository, by its owner/name."""
    return f"forge-bot/{urlsplit(server).netloc}/{repository}".casefold()


def machine_queue(server: str, repository: str, machine: str) -> str:
    """Return the task queue of the workers for these issues on one machine."""
    return f"{thread_queue(server, repository)}@{machine}"


def thread_workflow_id(server: str, repository: str, issue: int) -> str:
    """Return the id of the workflow that leads the run of an issue."""
    return f"{thread_queue(server, repository)}/{issue}"
