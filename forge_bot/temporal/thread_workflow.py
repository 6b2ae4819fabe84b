"""The workflow of a thread on GitHub: it receives events, and lets a worker go on for each.

`go_on` is one job of the bot. Between jobs nothing runs, and waiting costs nothing.
"""

from collections import deque
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from forge_bot.temporal.thread_address import THREAD_WORKFLOW, WAKE, thread_queue
    from forge_bot.temporal.thread_messages import (
        JobDone,
        ThreadBegin,
        ThreadOrder,
        ThreadWake,
    )

_LONGEST = timedelta(hours=6)
_SILENCE = timedelta(seconds=20)

_PAUSES = (60.0, 300.0, 900.0)
"""Seconds before a job that nobody asked for; the last pause is repeated."""

_TRIES = RetryPolicy(maximum_interval=timedelta(minutes=1), maximum_attempts=4)


@workflow.defn(name=THREAD_WORKFLOW)
class ForgeThreadWorkflow:
    """The run of an issue, from its first event until it is over."""

    @workflow.init
    def __init__(self, begin: ThreadBegin) -> None:
        """Begin with nothing known of the run; the first job tells."""
        del begin
        self._wakes = deque[ThreadWake]()
        self._keys = set[str]()
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
                start_to_close_timeout=_LONGEST,
                heartbeat_timeout=_SILENCE,
                retry_policy=_TRIES,
            )
        except ActivityError as failed:
            if is_cancelled_exception(failed):
                raise
            return JobDone(outcome="failed", again=True)

    @workflow.signal(name=WAKE)
    def wake(self, wake: ThreadWake) -> None:
        """Take in an event, once."""
        if wake.key not in self._keys:
            self._keys.add(wake.key)
            self._wakes.append(wake)
