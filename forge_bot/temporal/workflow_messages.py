"""The values that travel between terminal or Action, workflows and activities, and
stay in the history; and the names by which the Action and the workers find the same thread.

They name places, keys and events, and say how a run stands. Reports of people travel, and what a
request is frozen from; the run's own reports, its state, prompts, documents, code, arguments of
tools, tokens and keys do not.
"""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from forge_bot.agent.capabilities import CapabilityType
from forge_bot.agent.fulfil_requests import WantedAction
from forge_bot.bot.job_context import Wake
from forge_bot.bot.worker_messages import WorkerStopped
from forge_bot.temporal.temporal_server import TemporalPlace
from forge_bot.values import Frozen


class RunBegin(Frozen):
    """A run, and the workers that have its clone: the input of its workflow."""

    repository: str = Field(description="folder of the clone, on the machine of its workers")
    run: str
    queue: str = Field(description="task queue of the workers that have this clone")
    place: TemporalPlace = Field(description="what the run was begun with")
    pauses: tuple[float, ...] = Field(
        default=(60, 300, 900), description="seconds before another try; the last is repeated"
    )


class Said(Frozen):
    """A person's report."""

    key: str
    report: str


class Order(Frozen):
    """`go_on` with what people said; or, with an action, only that."""

    begin: RunBegin
    said: tuple[Said, ...] = ()
    action: WantedAction | None = None


class Stands(Frozen):
    """A worker's reason to come back. `text` is the end of the run, or the outcome of an action."""

    why: Literal["over", "asks", "actions", "waits", "stuck"]
    text: str = ""
    trouble: WorkerStopped | None = None
    seconds: float = Field(default=0, description="how long is waited for another try")
    actions: tuple[WantedAction, ...] = Field(default=(), description="actions of agents to take")
    refused: dict[str, WorkerStopped] = Field(
        default={}, description="reports that were refused, by their keys"
    )


class ActionResult(Frozen):
    """The outcome of an action. Its text stays in the journal, or in a document of the run."""

    capability: str
    capability_type: CapabilityType
    outcome: str
    success: bool
    trouble: WorkerStopped | None = None


class ThreadWake(Frozen):
    """An event that the gate let in."""

    wake: Wake
    inputs: dict[str, str] = Field(default={}, description="of the Action, by their variables")
    job: str = Field(default="", description="number of the workflow run that brought it")
    event: str = Field(default="", description="what a request is frozen from, as JSON")

    def once_more(self, *, begun: bool) -> "ThreadWake":
        """Return a wake for the same thread that nobody requested now. `begun` says that there is a
        run, so that the wake does not start one.
        """
        if not begun:
            return self.replace(wake=self.wake.replace(again=True))
        known: dict[str, object] = {"trigger": "", "operation": "resume", "again": True}
        return self.replace(wake=self.wake.replace(**known, comment=None), event="")


class ThreadBegin(Frozen):
    """The input of the workflow of a thread."""

    server: str
    repository: str
    issue: int


class ThreadOrder(Frozen):
    """One job for a worker with a token."""

    repository: str
    wake: ThreadWake


class JobDone(Frozen):
    """The end of a job, and why it is looked at again by itself, if it is."""

    outcome: str = ""
    again: bool = Field(default=False, description="the reason can go away by itself")
    seconds: int = Field(default=0, description="how long GitHub asks to be left alone")
    begun: bool = Field(default=False, description="the thread has a run")
    over: bool = Field(default=False, description="nothing is waited for")


THREAD_WORKFLOW = "ForgeThreadWorkflow"
WAKE = "wake"


def thread_queue(server: str, repository: str) -> str:
    """Return the task queue of the workers for the issues of a repository, by its owner/name."""
    return f"forge-bot/{urlsplit(server).netloc}/{repository}".casefold()


def thread_workflow_id(server: str, repository: str, issue: int) -> str:
    """Return the id of the workflow that leads the run of an issue."""
    return f"{thread_queue(server, repository)}/{issue}"
