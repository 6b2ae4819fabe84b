"""The values that travel between the Action, the workflow of a thread and its workers.

They name an event and hold what a request is frozen from. Tokens, keys and the state do not travel.
"""

from pydantic import Field

from forge_bot.bot.job_context import Wake
from forge_bot.values import Frozen


class ThreadWake(Frozen):
    """An event that the gate let in."""

    key: str = Field(description="the same for the same event")
    wake: Wake
    inputs: dict[str, str] = Field(default={}, description="of the Action, by their variables")
    job: str = Field(default="", description="GITHUB_RUN_ID of the job that brought it")
    event: str = Field(default="", description="what a request is frozen from, as JSON")

    def once_more(self, *, begun: bool) -> "ThreadWake":
        """Return a wake for the same thread that nobody requested now. `begun` says that there is a
        run, so that the wake does not start one.
        """
        if not begun:
            return self.replace(wake=self.wake.replace(again=True))
        known: dict[str, object] = {"trigger": "", "operation": "resume", "again": True}
        return self.replace(wake=self.wake.replace(**known, comment=None, check=None), event="")


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
