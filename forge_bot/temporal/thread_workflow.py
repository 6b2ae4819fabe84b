"""The workflow of a thread on GitHub: it receives events, and sends a worker to the thread for
each.

A visit does the work of a job of the Action. Between visits nothing runs, and waiting costs
nothing.
"""

from collections import deque
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception
from temporalio.exceptions import TimeoutError as LostActivity

with workflow.unsafe.imports_passed_through():
    from forge_bot.bot.command_reports import ReportedCommand, Utterance, command_key, report_of
    from forge_bot.bot.worker_messages import stopped_by
    from forge_bot.engine import REPORT, Pipeline, State, advance, fold, next_action
    from forge_bot.errors import ForgeError, ReportRejected, TemporalWorkerDiffers
    from forge_bot.gate.environment_variables import read_inputs
    from forge_bot.gate.parse_comment import parse_comment
    from forge_bot.temporal.action_workflow import (
        LONGEST,
        SILENCE,
        SOON,
        action_done,
        visit_step_done,
    )
    from forge_bot.temporal.payloads import as_failure, stop_in
    from forge_bot.temporal.search_attributes import ShownRun, WaitsFor
    from forge_bot.temporal.thread_address import HEAR, THREAD_WORKFLOW, WAKE, thread_queue
    from forge_bot.temporal.thread_payloads import (
        ThreadBegin,
        ThreadStanding,
        ThreadTrouble,
        ThreadWake,
        VisitDone,
        VisitOrder,
        VisitStep,
    )

VISIT = "visit"

_PAUSES = (60.0, 300.0, 900.0)
"""Seconds before a visit that nobody asked for; the last pause is repeated."""

_TRIES = RetryPolicy(maximum_interval=timedelta(minutes=1), maximum_attempts=4)

_MOST_KEYS = 100
"""Events that are known again; older ones are found answered in the thread."""


@workflow.defn(name=THREAD_WORKFLOW)
class ForgeThreadWorkflow:
    """The run of an issue, from its first event until it is over."""

    @workflow.init
    def __init__(self, begin: ThreadBegin) -> None:
        """Begin with nothing known of the run; a visit tells."""
        self._begin = begin
        self._wakes = deque(begin.wakes)
        self._keys = deque(begin.keys, maxlen=_MOST_KEYS)
        self._last = begin.last
        self._visiting = False
        self._step = ""
        self._machine = begin.machine
        self._worker = ""
        self._done = VisitDone()
        self._tries = 0
        self._shown = ShownRun()
        self._searchable = False
        self._pipeline: Pipeline | None = None
        self._state: State | None = None
        self._run = ""
        self._known: int = 0

    @workflow.run
    async def run(self, begin: ThreadBegin) -> str:
        """Send a worker whenever there is a reason, until the run is over; how it ended."""
        while True:
            self._last = await self._next_wake()
            self._visiting = True
            self._show()
            done = await self._visited(self._last, self._worker, self._machine)
            while done.then and not self._interrupted():
                self._step, self._searchable = done.then, done.searchable
                self._show()
                done = await self._stepped(done)
            self._visiting, self._step = False, ""
            self._worker, self._machine = done.worker, done.machine or self._machine
            if not done.then:
                self._heard_of(done, again=self._last.wake.again)
            elif not self._wakes:
                self._wakes.append(self._last.once_more(begun=bool(self._run)))
            if self._done.over and not done.then:
                await workflow.wait_condition(workflow.all_handlers_finished)
                if not self._wakes:
                    return self._done.outcome
            if workflow.info().is_continue_as_new_suggested():
                await workflow.wait_condition(workflow.all_handlers_finished)
                heard = begin.replace(
                    wakes=tuple(self._wakes),
                    keys=tuple(self._keys),
                    last=self._last,
                    machine=self._worker or self._machine,
                )
                workflow.continue_as_new(heard)

    def _interrupted(self) -> bool:
        """Return whether something comes before the next step, from where the branch stands."""
        return bool(self._wakes) or workflow.info().is_continue_as_new_suggested()

    def _heard_of(self, done: VisitDone, *, again: bool) -> None:
        """Take in the result of a visit. A message that people got once is not repeated."""
        if self._done.passing and done.occasion == self._done.occasion:
            untold = self._done.untold and (done.untold or again)
            done = done.replace(untold=untold)
        self._done, self._searchable = done, done.searchable
        self._learn(done)
        self._show()

    def _show(self) -> None:
        """Give the server the attributes by which the thread can be found, if a worker says that
        the server has them.
        """
        if not self._searchable:
            return
        stands = waits_for = None
        if self._pipeline is not None and self._state is not None:
            stands = (self._state, next_action(self._pipeline, self._state))
        if self._visiting:
            waits_for = WaitsFor.NOBODY
        elif self._done.passing or self._done.parked:
            waits_for = WaitsFor.PROVIDER
        elif self._done.outcome == "failed":
            waits_for = WaitsFor.OPERATOR
        self._shown.show(self._begin.repository, str(self._begin.issue), stands, waits_for)

    async def _next_wake(self) -> ThreadWake:
        """Wait for an event, or for the time to look again by itself."""
        again = self._last is not None and (self._done.passing or self._done.parked)
        usual = _PAUSES[min(self._tries, len(_PAUSES) - 1)]
        pause = max(usual, self._done.seconds) if again else None
        try:
            await workflow.wait_condition(lambda: bool(self._wakes), timeout=pause)
        except TimeoutError:
            assert self._last is not None  # noqa: S101 - only then there is a pause
            self._tries += 1
            return self._last.once_more(begun=bool(self._run))
        self._tries = 0
        return self._wakes.popleft()

    def _order(self, wake: ThreadWake) -> VisitOrder:
        return VisitOrder(
            repository=self._begin.repository, wake=wake, run=self._run, known=self._known
        )

    async def _stepped(self, done: VisitDone) -> VisitDone:
        """Let a waiting visit take its next step; begin it again if it is gone."""
        assert self._last is not None  # noqa: S101 - only a wake leads to a visit
        again = self._last.once_more(begun=bool(self._run))
        step = VisitStep(order=self._order(again), step=done.then, queue=done.worker)
        try:
            if done.action is None:
                return await visit_step_done(step)
            taken = await action_done(step, done.action)
            assert isinstance(taken, VisitDone)  # noqa: S101 - what a visit's step is answered with
        except (ActivityError, ChildWorkflowError) as error:
            if is_cancelled_exception(error):
                raise
            return await self._visited(again, done.machine)
        else:
            return taken

    async def _visited(self, wake: ThreadWake, *near: str) -> VisitDone:
        """Send a worker, from a near queue if there is one: the queue of the worker that holds the
        run, or of the machine with its journal.
        """
        shared = thread_queue(self._begin.server, self._begin.repository)
        queue, *others = (*filter(None, near), shared)
        try:
            return await workflow.execute_activity(
                VISIT,
                self._order(wake),
                result_type=VisitDone,
                task_queue=queue,
                schedule_to_start_timeout=SOON if others else None,
                start_to_close_timeout=LONGEST,
                heartbeat_timeout=SILENCE,
                retry_policy=_TRIES,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if others and isinstance(error.cause, LostActivity):
                return await self._visited(wake, *others[:-1])
            stop, passing = stop_in(error.cause)
            # Another worker may be one of the version that fits.
            passing = passing or stop.code == TemporalWorkerDiffers.code
            return VisitDone(
                outcome="failed",
                occasion=stop.code.lower(),
                message=stop.message,
                passing=passing,
                untold=True,
                run=self._run,
                first=self._known,
            )

    def _learn(self, done: VisitDone) -> None:
        """Read the branch's new reports. If incomplete, forget all and request them again."""
        if done.pipeline:
            self._pipeline, self._state = Pipeline.model_validate_json(done.pipeline), None
        elif done.run != self._run or done.first != self._known:
            self._pipeline, self._state = None, None
        self._run, self._known = done.run, 0
        if self._pipeline is None:
            return
        for line in done.reports:
            report = REPORT.validate_json(line)
            self._state = (
                fold(self._pipeline, [report])
                if self._state is None
                else advance(self._pipeline, self._state, report)
            )
        self._known = done.first + len(done.reports)

    # -- people
    # ----------------------------------------------------------------------------------------------

    @workflow.update(name=HEAR)
    async def hear(self, wake: ThreadWake) -> ThreadTrouble:
        """Take in an event; return why the last visit failed, if it did."""
        self._heard(wake)
        failed = self._done if self._done.passing else VisitDone()
        if failed.untold:
            self._done = failed.replace(untold=False)
        return ThreadTrouble(message=failed.message, untold=failed.untold, occasion=failed.occasion)

    @hear.validator
    def _fits(self, wake: ThreadWake) -> None:
        """Refuse a comment if the engine accepts none of its commands; it leaves no trace in the
        history.

        During a visit, and while an event waits, the later state of the run is unknown, so nothing
        is refused.
        """
        if self._visiting or self._wakes or self._pipeline is None or self._state is None:
            return
        try:
            _check_taken(wake, self._pipeline, self._state)
        except ForgeError as error:
            raise as_failure(stopped_by(error)) from None

    @workflow.signal(name=WAKE)
    def wake(self, wake: ThreadWake) -> None:
        """Take in an event where no worker answers an update now, or have its refusal said."""
        self._heard(wake)

    def _heard(self, wake: ThreadWake) -> None:
        if wake.key not in self._keys:
            self._keys.append(wake.key)
            self._wakes.append(wake)

    @workflow.query
    def standing(self) -> ThreadStanding:
        """Say how the thread stands."""
        return ThreadStanding(
            visiting=self._visiting,
            step=self._step,
            waiting=len(self._wakes),
            outcome=self._done.outcome,
            occasion=self._done.occasion,
            parked=self._done.parked,
        )


def _check_taken(wake: ThreadWake, pipeline: Pipeline, state: State) -> None:
    """Raise the engine's error for the first command of a comment, if the engine accepts none
    of them.
    """
    comment, number = wake.comment, wake.wake.comment
    if comment is None or number is None:
        return
    inputs = read_inputs(wake.inputs)
    refused: ForgeError | None = None
    for command in parse_comment(comment.body, inputs.prefix, bare=inputs.bare).commands:
        if not isinstance(command, ReportedCommand):
            return
        key = command_key(number, command.line)
        spoken = Utterance(key=key, at=comment.at, by=comment.by, via=comment.via)
        try:
            report = report_of(command, spoken, pipeline, state)
            if report is None or advance(pipeline, state, report) is not state:
                return
            refused = refused or ReportRejected("This was told before.")
        except ForgeError as error:
            refused = refused or error
    if refused is not None:
        raise refused
