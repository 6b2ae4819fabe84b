"""The workflows: that of a run and that of a thread on GitHub repeat "go on", until the run is
over, a person is asked, or something has to be waited for. Each action that an agent asks for is a
workflow of its own.

For a thread "go on" is one job of the bot. Between jobs nothing runs, and waiting costs nothing.
"""

import asyncio
from collections import deque
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from forge_bot.agent.capabilities import CapabilityType
    from forge_bot.agent.fulfil_requests import WantedAction
    from forge_bot.bot.worker_messages import WorkerStopped
    from forge_bot.temporal.workflow_messages import (
        THREAD_WORKFLOW,
        WAKE,
        ActionResult,
        JobDone,
        Order,
        RunBegin,
        Said,
        Stands,
        ThreadBegin,
        ThreadOrder,
        ThreadWake,
        thread_queue,
    )

GO_ON = "go_on"
ACTIVITY_OF_ACTION = {
    CapabilityType.MCP_TOOL: "execute_mcp_tool",
    CapabilityType.SKILL: "execute_skill",
}
"""Names of the activities that take one action of an agent each."""

_LONGEST = timedelta(hours=24)
_SUCCESS = frozenset({"ok", "done"})

Result = TypeVar("Result")


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


def _choose_pause(begin: RunBegin, stands: Stands, tries: int) -> float:
    return max(stands.seconds, begin.pauses[min(tries, len(begin.pauses) - 1)])


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
                await workflow.sleep(_choose_pause(order.begin, stands, tries))
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
                pause = _choose_pause(self._begin, stands, tries - 1) if waits else 0
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

_PAUSES = (60.0, 300.0, 900.0)
"""Seconds before a job that nobody asked for; the last pause is repeated."""

_TRIES = RetryPolicy(maximum_interval=timedelta(minutes=1), maximum_attempts=4)


@workflow.defn(name=THREAD_WORKFLOW)
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
        usual = _PAUSES[min(tries, len(_PAUSES) - 1)]
        pause = max(usual, self._done.seconds) if self._done.again else None
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

    @workflow.signal(name=WAKE)
    def wake(self, wake: ThreadWake) -> None:
        """Take in an event. One that is delivered twice is found answered in the thread."""
        self._wakes.append(wake)
