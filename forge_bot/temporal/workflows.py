"""The workflows: that of a run and that of a thread on GitHub repeat "go on", until the run is
over, a person is asked, or something has to be waited for. Each action that an agent asks for is a
workflow of its own. For a thread "go on" is one job of the bot. Between jobs nothing runs, and
waiting costs nothing.

What travels between terminal or Action, workflows and activities stays in the history. The values
name places, keys and events, and say how a run stands. Reports of people travel, and what a
request is frozen from; the run's own reports, its state, prompts, documents, code, arguments of
tools, tokens and keys do not.
"""

import asyncio
from collections import deque
from contextlib import suppress
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception

from forge_bot.agent.capabilities import CapabilityType
from forge_bot.agent.fulfil_requests import WantedAction
from forge_bot.bot.job_context import Wake
from forge_bot.bot.worker_messages import WorkerStopped
from forge_bot.temporal.temporal_server import TemporalPlace
from forge_bot.values import Frozen

# -- what travels
# --------------------------------------------------------------------------------------------------


class RunBegin(Frozen):
    """A run, and the workers that have its clone: the input of its workflow."""

    repository: str = Field(description="folder of the clone, on the machine of its workers")
    run: str
    queue: str = Field(description="task queue of the workers that have this clone")
    place: TemporalPlace = Field(description="what the run was begun with")


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


def thread_queue(server: str, repository: str) -> str:
    """Return the task queue of the workers for the issues of a repository, by its owner/name."""
    return f"forge-bot/{urlsplit(server).netloc}/{repository}".casefold()


def thread_workflow_id(server: str, repository: str, issue: int) -> str:
    """Return the id of the workflow that leads the run of an issue."""
    return f"{thread_queue(server, repository)}/{issue}"


# -- the workflows
# --------------------------------------------------------------------------------------------------

GO_ON = "go_on"
ACTIVITY_OF_ACTION = {
    CapabilityType.MCP_TOOL: "execute_mcp_tool",
    CapabilityType.SKILL: "execute_skill",
}
"""Names of the activities that take one action of an agent each."""

_LONGEST = timedelta(hours=24)
_PAUSES = (60.0, 300.0, 900.0)
"""Seconds before another try that nobody asked for; the last pause is repeated."""

_SUCCESS = frozenset({"ok", "done"})


async def _execute(activity: str, order: Order) -> Stands:
    """Let a worker do something. The server repeats what a lost worker has begun; what forge-bot
    knows of is a result.
    """
    begin = order.begin
    try:
        return await workflow.execute_activity(
            activity,
            order,
            result_type=Stands,
            task_queue=begin.queue,
            start_to_close_timeout=_LONGEST,
            heartbeat_timeout=timedelta(seconds=begin.place.heartbeat_seconds),
            retry_policy=RetryPolicy(maximum_interval=timedelta(minutes=1)),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        message = f"The worker was lost: {error.cause}."
        return Stands(
            why="stuck", trouble=WorkerStopped(code="ERR-001", message=message, exit_code=1)
        )


def _choose_pause(seconds: float, tries: int) -> float:
    """Return the seconds before another try, at least as many as are asked for."""
    return max(seconds, _PAUSES[min(tries, len(_PAUSES) - 1)])


@workflow.defn
class ForgeActionWorkflow:
    """One call of a tool, or one skill. It is a child of the workflow of a run."""

    @workflow.run
    async def run(self, order: Order) -> ActionResult:
        """Let a worker perform the action. A skill may wait for a model or a batch."""
        action, tries = order.action, 0
        assert action is not None  # noqa: S101 - an order for this workflow has one
        stands = Stands(why="over", text="unknown_capability")
        if (activity := ACTIVITY_OF_ACTION.get(action.capability_type)) is not None:
            while (stands := await _execute(activity, order)).why == "waits":
                await workflow.sleep(_choose_pause(stands.seconds, tries))
                tries += 1
        return ActionResult(
            capability=action.capability,
            capability_type=action.capability_type,
            outcome=stands.text,
            success=stands.text in _SUCCESS,
            trouble=stands.trouble,
        )


@workflow.defn
class ForgeRunWorkflow:
    """Goes on; then waits for whoever is next."""

    @workflow.init
    def __init__(self, begin: RunBegin) -> None:
        """Begin with nothing known of the run; the first activity tells."""
        self._begin = begin
        self._inbox = list[Said]()
        self._stands: Stands | None = None
        self._woken = False

    @workflow.run
    async def run(self, begin: RunBegin) -> str:
        """Lead the run to its end; return how it ended."""
        del begin
        tries = 0
        while True:
            stands = await self._go_on()
            waits = stands is not None and stands.why == "waits"
            tries = tries + 1 if waits else 0
            if stands is not None:
                if stands.why == "over" and not self._inbox:
                    await workflow.wait_condition(workflow.all_handlers_finished)
                    return stands.text
                pause = _choose_pause(stands.seconds, tries - 1) if waits else 0
                self._stands = stands.replace(seconds=pause)
                with suppress(TimeoutError):
                    await workflow.wait_condition(self._is_told, timeout=pause or None)

    async def _go_on(self) -> Stands | None:
        """Let a worker go on, and then each action that it leaves; return why somebody else is
        next, None if the worker is.
        """
        messages = tuple(self._inbox)
        self._inbox.clear()
        self._stands, self._woken = None, False
        stands = await _execute(GO_ON, Order(begin=self._begin, said=messages))
        if stands.why != "actions":
            return None if self._inbox else stands
        for outcome in await asyncio.gather(*(self._act(action) for action in stands.actions)):
            if outcome.trouble is not None:
                return Stands(why="stuck", trouble=outcome.trouble)
        return None

    async def _act(self, action: WantedAction) -> ActionResult:
        return await workflow.execute_child_workflow(
            ForgeActionWorkflow.run,
            Order(begin=self._begin, action=action),
            id=f"{workflow.info().workflow_id}/{action.key}",
            static_summary=action.capability,
        )

    def _is_told(self) -> bool:
        return bool(self._inbox) or self._woken

    @workflow.update
    async def say(self, message: Said) -> None:
        """Take in a person's report. It is recorded when a worker goes on."""
        self._inbox.append(message)

    @workflow.signal
    def wake(self) -> None:
        """Go on now, from where the branch stands."""
        self._woken = True

    @workflow.query
    def standing(self) -> Stands | None:
        """Say why somebody else than a worker is next; None if a worker is."""
        return None if self._is_told() else self._stands


_LONGEST_JOB = timedelta(hours=6)
_SILENCE_OF_JOB = timedelta(seconds=20)

_TRIES = RetryPolicy(maximum_interval=timedelta(minutes=1), maximum_attempts=4)


@workflow.defn
class ForgeThreadWorkflow:
    """The run of an issue, from its first event until it is over."""

    def __init__(self) -> None:
        self._wakes = deque[ThreadWake]()
        self._last: ThreadWake | None = None
        self._begun = False
        self._done = JobDone()

    @workflow.run
    async def run(self, begin: ThreadBegin) -> str:
        """Let a worker go on whenever there is a reason, until the run is over; how it ended."""
        tries = 0
        while True:
            woken = await self._wait_for_wake(tries)
            tries = 0 if woken else tries + 1
            if woken:
                self._last = self._wakes.popleft()
            assert self._last is not None  # noqa: S101 - only after a job there is a pause
            wake = self._last if woken else self._last.once_more(begun=self._begun)
            self._done = done = await self._run_job(begin, wake)
            self._begun = self._begun or done.begun
            if done.over and not self._wakes:
                return done.outcome

    async def _wait_for_wake(self, tries: int) -> bool:
        """Wait for an event, or for the time to look again by itself."""
        pause = _choose_pause(self._done.seconds, tries) if self._done.again else None
        try:
            await workflow.wait_condition(lambda: bool(self._wakes), timeout=pause)
        except TimeoutError:
            return False
        return True

    async def _run_job(self, begin: ThreadBegin, wake: ThreadWake) -> JobDone:
        """Let a worker do a job."""
        try:
            return await workflow.execute_activity(
                "go_on",
                ThreadOrder(repository=begin.repository, wake=wake),
                result_type=JobDone,
                task_queue=thread_queue(begin.server, begin.repository),
                start_to_close_timeout=_LONGEST_JOB,
                heartbeat_timeout=_SILENCE_OF_JOB,
                retry_policy=_TRIES,
            )
        except ActivityError as failed:
            if is_cancelled_exception(failed):
                raise
            return JobDone(outcome="failed", again=True)

    @workflow.signal
    def wake(self, wake: ThreadWake) -> None:
        """Take in an event. One that is delivered twice is found answered in the thread."""
        self._wakes.append(wake)
