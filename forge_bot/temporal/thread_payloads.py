"""The values that travel between the Action, the workflow of a thread and its visits.

They name an event and hold what somebody wrote there. Tokens, keys and the state do not travel.
"""

from datetime import datetime

from pydantic import Field

from forge_bot.agent.actions_wanted import WantedAction
from forge_bot.bot.job_context import Wake
from forge_bot.values import Frozen


class WokenBy(Frozen):
    """The comment that woke a thread, as its event showed it."""

    body: str
    by: str
    at: datetime
    via: str


class ThreadWake(Frozen):
    """An event that the gate let in."""

    key: str = Field(description="the same for the same event")
    wake: Wake
    inputs: dict[str, str] = Field(default={}, description="of the Action, by their variables")
    job: str = Field(default="", description="GITHUB_RUN_ID of the job that brought it")
    event: str = Field(default="", description="what a request is frozen from, as JSON")
    comment: WokenBy | None = None

    def once_more(self, *, begun: bool) -> "ThreadWake":
        """Return a wake for the same thread that nobody requested now. `begun` says that there is a
        run, so that the wake does not start one.
        """
        if not begun:
            return self.replace(wake=self.wake.replace(again=True))
        known: dict[str, object] = {"way": "", "deed": "resume", "again": True}
        wake = self.wake.replace(**known, comment=None, check=None)
        return self.replace(wake=wake, event="", comment=None)


class ThreadBegin(Frozen):
    """The input of the workflow of a thread; the rest is what an earlier history of it heard."""

    server: str
    repository: str
    issue: int
    wakes: tuple[ThreadWake, ...] = ()
    keys: tuple[str, ...] = ()
    last: ThreadWake | None = None
    machine: str = Field(default="", description="task queue where the journal of the run lies")


class VisitOrder(Frozen):
    """One visit to a thread, by a worker with a token."""

    repository: str
    wake: ThreadWake
    run: str = Field(default="", description="the run that the workflow knows")
    known: int = Field(default=0, description="reports of it that the workflow knows")


class VisitStep(Frozen):
    """The next step of a visit that waits for it on a certain worker."""

    order: VisitOrder
    step: str
    queue: str = Field(description="task queue of the worker that has the visit")


class VisitDone(Frozen):
    """The end of a visit and the branch's new reports, or the next step that the visit begins."""

    outcome: str = ""
    occasion: str = Field(default="", description="what stands in the way")
    message: str = Field(default="", description="the same in words")
    untold: bool = Field(default=False, description="people in the thread could not be told")
    passing: bool = Field(default=False, description="the reason can go away by itself")
    seconds: int = Field(default=0, description="how long GitHub asks to be left alone")
    parked: bool = Field(default=False, description="a provider's batch is waited for")
    over: bool = Field(default=False, description="nothing is waited for")
    run: str = ""
    first: int = Field(default=0, description="reports before those that are told")
    reports: tuple[str, ...] = ()
    pipeline: str = Field(default="", description="told with the first reports")
    taken: str = Field(default="", description="what came of the action that the last step was")
    then: str = Field(default="", description="the next step; empty when the visit has ended")
    action: WantedAction | None = Field(
        default=None, description="the action of an agent that the next step is"
    )
    worker: str = Field(default="", description="task queue of the worker that has the visit")
    machine: str = Field(default="", description="task queue of the workers on its machine")
    searchable: bool = Field(default=False, description="the server has the search attributes")


class ThreadTrouble(Frozen):
    """The reason why the last visit failed, for the job that brings the next event."""

    message: str = ""
    untold: bool = False
    occasion: str = ""


class ThreadStanding(Frozen):
    """The state of a thread, for those who look."""

    visiting: bool = False
    step: str = ""
    waiting: int = Field(default=0, description="events that nobody has looked at yet")
    outcome: str = ""
    occasion: str = ""
    parked: bool = False
