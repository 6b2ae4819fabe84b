"""The workflow of a run: the loop of every host, deterministic, with all work in activities."""

from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from forge_bot.agent.actions_wanted import WantedAction, outstanding_action
    from forge_bot.bot.worker_messages import WorkerStopped, stopped_by
    from forge_bot.engine import (
        REPORT,
        Action,
        Checkpoint,
        Done,
        Exec,
        HumanGate,
        PersonAction,
        Pipeline,
        Report,
        State,
        WorkAction,
        advance,
        drive,
        fold,
        next_action,
    )
    from forge_bot.engine.reports import (
        Abandoned,
        Answered,
        ArtifactChanged,
        Asked,
        BudgetRaised,
        GateShown,
        RetryAsked,
    )
    from forge_bot.errors import (
        BatchUnderWay,
        ForgeError,
        ReportRejected,
        RunEnded,
        RunMoved,
    )
    from forge_bot.runs.phase_names import StopAtLine, stop_after
    from forge_bot.runs.run_steps import ACTIONS, first_step
    from forge_bot.temporal.action_workflow import StepMoved, StepStopped, order_done
    from forge_bot.temporal.payloads import (
        RunBegin,
        RunStanding,
        StepDone,
        StepOrder,
        as_failure,
        seconds_to_wait,
    )
    from forge_bot.temporal.search_attributes import ShownRun, WaitsFor
    from forge_bot.values import PhaseId

OF_PEOPLE = Answered | GateShown | RetryAsked | BudgetRaised | Abandoned | Asked | ArtifactChanged
"""Reports that come from a person and not from the work of the run."""

STOPPED = "stopped"
"""The result of a workflow that led its run as far as it was asked to."""

_PAUSES = (60, 300, 900)
"""Seconds before work is repeated after a passing failure; the last pause is repeated."""

_MOVES = 3
"""Times in a row that the branch may be read again without a step forward."""


@workflow.defn(name="ForgeRunWorkflow")
class ForgeRunWorkflow:
    """One run: a host of `drive`."""

    @workflow.init
    def __init__(self, begin: RunBegin) -> None:
        """Begin without a state; the branch is read first."""
        self._begin = begin
        self._until = begin.until
        self._pipeline: Pipeline | None = None
        self._state: State | None = None
        self._commit = ""
        self._known = 0
        self._step = ""
        self._moves = 0
        self._wakes = 0
        self._closed = False
        self._look_again = False
        self._trouble: WorkerStopped | None = None
        self._again = 0
        self._inbox: deque[Report] = deque()
        self._shown = ShownRun()
        self._told: set[str] = set()
        self._refused: dict[str, WorkerStopped] = {}

    @workflow.run
    async def run(self, begin: RunBegin) -> str:
        """Lead the run to its end; return its outcome."""
        del begin
        while True:
            try:
                pipeline, state = await self._taken_up()
                state, action = await drive(pipeline, state, StopAtLine(self, self._lies_behind))
                if isinstance(action, Done) and not await self._heard_at_end():
                    return action.outcome
                if self._lies_behind(state, action) and not await self._heard():
                    return STOPPED
            except StepMoved:
                self._moved()
            if self._leaves_off():
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(self._begin.replace(until=self._until))

    async def _taken_up(self) -> tuple[Pipeline, State]:
        """Return the known state of the run; read it from its branch if there is none."""
        if self._pipeline is not None and self._state is not None:
            return self._pipeline, self._state
        self._known, self._commit = 0, ""
        done = await self._done("take_up")
        pipeline = Pipeline.model_validate_json(done.pipeline)
        reports = [REPORT.validate_json(line) for line in done.reports]
        while done.more:
            self._known, self._commit = len(reports), done.commit
            done = await self._done("news")
            reports += [REPORT.validate_json(line) for line in done.reports]
        self._pipeline, self._state = pipeline, fold(pipeline, reports)
        self._known, self._commit = len(reports), done.commit
        self._show()
        return self._pipeline, self._state

    async def _heard_at_end(self) -> bool:
        """Deliver the record of a run that is over; return whether a person opened it again."""
        await self._done("finish")
        if await self._heard():
            return True
        self._closed = True
        await workflow.wait_condition(workflow.all_handlers_finished)
        return False

    async def _heard(self) -> bool:
        """Let a worker record people's reports that arrived meanwhile; return whether any did."""
        if (said := self._next_said()) is not None and self._pipeline and self._state:
            await self.record(said, advance(self._pipeline, self._state, said))
            return True
        return False

    def _lies_behind(self, state: State, action: Action) -> bool:
        """Return whether an action comes after the last wanted phase."""
        if not self._until or self._pipeline is None:
            return False
        return stop_after(self._pipeline, PhaseId(self._until))(state, action)

    def _moved(self) -> None:
        """Read the branch again, a limited number of times."""
        self._state = None
        self._moves += 1
        if self._moves > _MOVES:
            raise as_failure(stopped_by(RunMoved("The branch of the run is in disorder.")))

    def _leaves_off(self) -> bool:
        """Return whether the history is so long that a new one should begin."""
        return workflow.info().is_continue_as_new_suggested() and not self._inbox

    # -- what the loop asks of its host
    # ----------------------------------------------------------------------------------------------

    async def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
        """Let a worker perform the action, step by step."""
        step, first = first_step(action), True
        actions = outstanding_action(state)
        while step and not self._leaves_off():
            if (said := self._next_said()) is not None:
                yield said
                return
            taken = actions if step == ACTIONS else ()
            done = await self._execute(step, taken, action_id=action.action_id, first=first)
            if done is None:
                continue
            for line in done.reports:
                self._moves = 0
                yield REPORT.validate_json(line)
            self._commit, step, actions, first = done.commit, done.then, done.actions, False

    def publish(self, state: State, action: Exec) -> AsyncGenerator[Report]:
        """Let a worker publish."""
        return self.perform(state, action)

    async def ask(self, state: State, action: PersonAction) -> AsyncGenerator[Report]:
        """Wait for a person. It costs nothing."""
        del state, action
        await workflow.wait_condition(
            lambda: bool(self._inbox) or self._look_again or self._leaves_off()
        )
        if self._look_again:
            self._look_again = False
            done = await self._done("news")
            for line in done.reports:
                yield REPORT.validate_json(line)
            self._commit = done.commit
        elif (said := self._next_said()) is not None:
            yield said

    async def record(self, report: Report, state: State) -> None:
        """Let a worker record a person's report; reports of workers are recorded already."""
        if report.key in self._told:
            try:
                line = REPORT.dump_json(report).decode()
                self._commit = (await self._once("record", report=line)).commit
            except StepMoved:
                # It is taken up again, as the first thing after the branch has been read.
                self._inbox.appendleft(report)
                raise
            except StepStopped as stopped:
                self._refused[report.key] = stopped.stop
                raise StepMoved from None
            self._told.discard(report.key)
        self._state = state
        self._known += 1
        self._show()

    def _show(self, waits_for: WaitsFor | None = None) -> None:
        """Update the search attributes of the run, if the server has them."""
        if not self._begin.shown_as or self._state is None or self._pipeline is None:
            return
        stands = (self._state, next_action(self._pipeline, self._state))
        self._shown.show(self._begin.shown_as, self._state.source.id, stands, waits_for)

    def _next_said(self) -> Report | None:
        """Return the next report of a person that is valid now; others are refused."""
        while self._inbox and self._pipeline is not None and self._state is not None:
            said = self._inbox.popleft()
            try:
                if advance(self._pipeline, self._state, said) is not self._state:
                    return said
                self._told.discard(said.key)
            except ForgeError as error:
                self._refused[said.key] = stopped_by(error)
        return None

    # -- activities
    # ----------------------------------------------------------------------------------------------

    async def _done(self, name: str) -> StepDone:
        while True:
            if (done := await self._execute(name)) is not None:
                return done

    async def _execute(
        self,
        name: str,
        actions: Sequence[WantedAction] = (),
        *,
        action_id: str = "",
        first: bool = True,
    ) -> StepDone | None:
        """Let a worker perform a step. A problem is shown until it is gone; return None if a person
        reported something meanwhile.
        """
        tries = 0
        while True:
            try:
                return await self._once(name, actions, action_id=action_id, first=first)
            except StepStopped as stopped:
                self._trouble, woken = stopped.stop, self._wakes
                parked = stopped.stop.code == BatchUnderWay.code
                passing = stopped.passing or parked
                usual = _PAUSES[min(tries, len(_PAUSES) - 1)]
                pause = max(usual, seconds_to_wait(stopped.stop)) if passing else None
                self._again, tries = pause or 0, tries + 1
            self._show(WaitsFor.PROVIDER if passing else WaitsFor.OPERATOR)
            with suppress(TimeoutError):
                await workflow.wait_condition(
                    lambda woken=woken: self._wakes > woken or bool(self._inbox), timeout=pause
                )
            # Not where the wait is ended from outside: a worker that lets go of the workflow may
            # not touch the server any more.
            self._trouble, self._again = None, 0
            self._show()
            if self._inbox:
                return None

    async def _once(
        self,
        name: str,
        actions: Sequence[WantedAction] = (),
        *,
        action_id: str = "",
        first: bool = True,
        report: str = "",
    ) -> StepDone:
        order = StepOrder(
            begin=self._begin,
            commit=self._commit,
            known=self._known,
            action_id=action_id,
            step=name,
            first=first,
            report=report,
        )
        self._step = name
        try:
            return await order_done(order, actions)
        finally:
            self._step = ""

    # -- people
    # ----------------------------------------------------------------------------------------------

    @workflow.update
    async def tell(self, report: str) -> None:
        """Accept a person's report. It is recorded and pushed when this returns."""
        said = REPORT.validate_json(report)
        self._told.add(said.key)
        self._inbox.append(said)
        await workflow.wait_condition(
            lambda: said.key in self._refused or said.key not in self._told
        )
        if (stop := self._refused.pop(said.key, None)) is not None:
            self._told.discard(said.key)
            raise as_failure(stop)

    @tell.validator
    def _fits(self, report: str) -> None:
        """Refuse a report that the engine refuses, so that it leaves no trace in the history."""
        try:
            said = REPORT.validate_json(report)
            if not isinstance(said, OF_PEOPLE):
                raise ReportRejected("Only a person's report is taken here.")
            if self._closed:
                raise RunEnded("The run is over.")
            if self._pipeline is None or self._state is None:
                raise RunMoved("The run is being read from its branch.")
            if advance(self._pipeline, self._state, said) is self._state:
                raise ReportRejected("This was told before.")
        except ForgeError as error:
            raise as_failure(stopped_by(error)) from None
        except ValueError:
            raise as_failure(stopped_by(ReportRejected("This is no report."))) from None

    @workflow.signal
    def wake(self) -> None:
        """Retry a failed step, and read the branch while a person is asked."""
        self._wakes += 1
        self._look_again = True

    @workflow.signal
    def lead_until(self, phase: str) -> None:
        """Set the phase after which the workflow ends; empty for the end of the run."""
        self._until = phase

    @workflow.query
    def standing(self) -> RunStanding:
        """Return the state of the run."""
        if self._state is None or self._pipeline is None:
            return RunStanding(trouble=self._trouble, again=self._again, step=self._step)
        action = next_action(self._pipeline, self._state)
        over, stopped = isinstance(action, Done), self._lies_behind(self._state, action)
        idle = not self._inbox and not self._step
        return RunStanding(
            ready=True,
            known=self._known,
            commit=self._commit,
            action_id=action.action_id,
            phase=action.phase,
            label="" if over else self._pipeline.phase(action.phase).label,
            step=self._step,
            # Where a person is asked, the branch is looked at first.
            asks=isinstance(action, Checkpoint | HumanGate)
            and idle
            and not (self._look_again or stopped),
            over=over and idle,
            stopped_after=PhaseId(self._until if stopped and idle else ""),
            trouble=self._trouble,
            again=self._again,
        )
