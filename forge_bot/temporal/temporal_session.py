"""One invocation at a terminal for a run that a Temporal server leads: begin, report, follow,
ask.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from forge_bot.bot.worker_messages import as_error
from forge_bot.engine import Checkpoint, HumanGate, Report, advance
from forge_bot.errors import (
    NoTemporalWorker,
    RunBusy,
    StaleApproval,
    TemporalWorkerDiffers,
)
from forge_bot.interaction.number_format import in_time
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.notifications import Message, PhaseBegan
from forge_bot.runs.open_run import look_at_run
from forge_bot.runs.outcome import Outcome
from forge_bot.runs.phase_names import phase_named
from forge_bot.runs.question import gate_shown, open_question
from forge_bot.runs.run import Run
from forge_bot.runs.session import VIA, Session, TerminalHost, outcome_of
from forge_bot.runs.wall_clock import now
from forge_bot.sentences import say
from forge_bot.temporal.busy_workers import at_work
from forge_bot.temporal.deliver_report import RunHandle, deliver
from forge_bot.temporal.payloads import RunBegin, RunStanding, publishing_queue, stop_in
from forge_bot.temporal.recorded_answers import recorded
from forge_bot.temporal.run_activities import open_when_free
from forge_bot.temporal.run_place import (
    TemporalPlace,
    keep_place,
    queue_of,
    server_file,
    shown_name,
    workflow_id,
)
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from forge_bot.temporal.search_attributes import has_attributes
from forge_bot.temporal.server_errors import UNREAD, as_forge_error, unread_by_worker
from forge_bot.temporal.temporal_server import connected
from forge_bot.temporal.temporal_worker import working
from forge_bot.temporal.thread_address import ORCHESTRATION
from forge_bot.values import PhaseId

_SHORTEST, _LONGEST = 0.05, 1.0
"""Seconds between two queries of a run that works."""

_ANSWER_TIME = timedelta(seconds=5)
"""Time in which a worker says how a run stands."""

_FRESH = timedelta(seconds=70)
"""A worker that lives and has room for a step asks for work at least once a minute."""

_PATIENCE = 10.0
"""Seconds that a command waits for a run that a worker holds."""

_GRACE_OF_COMMAND = timedelta(seconds=1)


class TemporalSession:
    """Leads an invocation for a run on a server, as a Session does for a local run."""

    def __init__(
        self,
        session: Session,
        place: TemporalPlace,
        *,
        record: Path | None = None,
        only_tells: bool = True,
    ) -> None:
        """Make the session. `record` gets the models' answers during the run. `only_tells`: the
        first report needs no work tree of the run.
        """
        self.session = session
        self.place = place
        self.record = record
        self.only_tells = only_tells
        self._queue = queue_of(session.repository)
        self._action = ""
        self._until: PhaseId | None = None

    def go_on(
        self, info: RunInfo, first: Callable[[Run], Report | None] | None = None
    ) -> tuple[Outcome, Run]:
        """Report to the run if a report is given, and follow it until nobody can perform the next
        action.

        Raises the run's problem, as the worker reported it.
        """
        with recorded(self.session.repository, info.name, self.record):
            return asyncio.run(self._led(info, first))

    async def _led(
        self, info: RunInfo, first: Callable[[Run], Report | None] | None
    ) -> tuple[Outcome, Run]:
        self._until = self._last_phase(info)
        try:
            async with self._at_server(info) as client:
                handle = await self._told_first(client, info, first)
                return await self._followed(client, handle, info)
        except RPCError as error:
            raise as_forge_error(error, self.place.address, self.place.namespace) from error

    def _last_phase(self, info: RunInfo) -> PhaseId | None:
        """Return the last wanted phase. Raises BadOption."""
        if self.session.until is None:
            return None
        with self._held(info) as run:
            return phase_named(run.pipeline, self.session.until)

    @asynccontextmanager
    async def _at_server(self, info: RunInfo) -> AsyncGenerator[Client]:
        """Connect; with an embedded server work here too."""
        repository = self.session.repository
        async with connected(self.place, server_file(repository, info.name)) as client:
            if not self.place.dev:
                yield client
                return
            tell = self.session.tell
            async with working(client, (repository,), lambda _: tell, grace=_GRACE_OF_COMMAND):
                yield client

    # -- telling
    # ----------------------------------------------------------------------------------------------

    async def _told_first(
        self, client: Client, info: RunInfo, first: Callable[[Run], Report | None] | None
    ) -> RunHandle:
        handle = client.get_workflow_handle_for(
            ForgeRunWorkflow.run, workflow_id(self.session.repository, info.name)
        )
        if leads := await _is_running(handle):
            await handle.signal(ForgeRunWorkflow.lead_until, self._until or "")
        if first is None:
            if not leads:
                return await self._started(client, info)
            await handle.signal(ForgeRunWorkflow.wake)
            return handle
        if leads and self.only_tells:
            standing = await self._standing(client, handle)
            if standing.ready and standing.step:
                await self._require_workers(client)
                await self._told_at_work(handle, info, first, standing)
                return handle
        with self._held(info) as run:
            for notice in run.notices:
                self.session.tell(Message(text=notice))
            report = first(run)
            if report is not None and not leads:
                # No workflow leads the run, so the report is recorded here, and the workflow begins
                # from it.
                run.tell(report)
        if not leads:
            return await self._started(client, info)
        if report is None:
            await handle.signal(ForgeRunWorkflow.wake)
        else:
            await self._caught_up(client, handle, run)
            await self._tell(handle, run, report)
        return handle

    async def _told_at_work(
        self,
        handle: RunHandle,
        info: RunInfo,
        first: Callable[[Run], Report | None],
        standing: RunStanding,
    ) -> None:
        """Report something to a run while a worker performs a step; it is taken after the step."""
        run = look_at_run(self.session.repository, info, self.session.config)
        if (report := first(run)) is not None:
            text = f"A worker is at work: {standing.label}. What you say is taken after its step."
            self.session.tell(Message(text=text))
            await self._tell(handle, run, report)

    async def _started(self, client: Client, info: RunInfo) -> RunHandle:
        repository = self.session.repository
        searchable = await has_attributes(client)
        begin = RunBegin(
            repository=str(repository.root),
            run=info.name,
            queue=self._queue,
            model=self.place.model,
            push=self.place.push,
            open_pr=self.place.open_pr,
            post=self.place.post,
            until=self._until or "",
            heartbeat_seconds=self.place.heartbeat_seconds,
            shown_as=shown_name(repository) if searchable else "",
        )
        keep_place(repository, info.name, self.place)
        return await client.start_workflow(
            ForgeRunWorkflow.run,
            begin,
            id=workflow_id(repository, info.name),
            task_queue=ORCHESTRATION,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )

    async def _caught_up(self, client: Client, handle: RunHandle, run: Run) -> None:
        """Wait until the workflow knows the branch's newest commit, since a person may have edited.

        A workflow that knows it answers at once, even while its work waits.
        """
        there = len(run.workspace.reports())
        if (await self._standing(client, handle)).known >= there:
            return
        await handle.signal(ForgeRunWorkflow.wake)
        standing = await self._settled(client, handle)
        if standing.known < there:
            raise RunBusy("The workflow of the run is reading its branch.")

    async def _tell(self, handle: RunHandle, run: Run, report: Report) -> None:
        """Deliver a person's report. A refusal is raised with the engine's words."""
        try:
            await deliver(handle, report, self.place)
        except WorkflowUpdateFailedError as failed:
            error = as_error(stop_in(failed.cause)[0])
            if isinstance(error, StaleApproval):
                await self._show_again(handle, run)
            raise error from None
        run.state = advance(run.pipeline, run.state, report)

    async def _show_again(self, handle: RunHandle, run: Run) -> None:
        """Show the version of the open question; a bare approval then means it."""
        action, asked = run.action, open_question(run)
        if asked is not None and isinstance(action, Checkpoint | HumanGate):
            if (shown := gate_shown(run, action, VIA)) is not None:
                await self._tell(handle, run, shown)
            self.session.show(asked)

    # -- following
    # ----------------------------------------------------------------------------------------------

    async def _followed(
        self, client: Client, handle: RunHandle, info: RunInfo
    ) -> tuple[Outcome, Run]:
        while True:
            standing = await self._settled(client, handle)
            with self._held(info) as run:
                pass
            if standing.over:
                await _ended(handle)
                return outcome_of(run.action), run
            if standing.stopped_after:
                await _ended(handle)
                self.session.stopped(run, standing.stopped_after, run.action)
                return Outcome.WAITING, run
            asked = run.action
            if len(run.workspace.reports()) != standing.known:
                await handle.signal(ForgeRunWorkflow.wake)
            elif isinstance(asked, Checkpoint | HumanGate):
                async for report in TerminalHost(self.session, run).ask(run.state, asked):
                    await self._tell(handle, run, report)
                if run.action == asked:
                    return outcome_of(asked), run

    async def _settled(self, client: Client, handle: RunHandle) -> RunStanding:
        """Return the state of the run when it stops; raise its problem."""
        pause, before, quiet, unanswered = _SHORTEST, RunStanding(), 0.0, False
        while True:
            standing = await self._standing(client, handle)
            if not (standing.ready or standing.trouble or unanswered or self.place.dev):
                # The server lists a worker for a minute after it has gone.
                self.session.tell(
                    Message(text="No worker has answered yet; the run goes on when one does.")
                )
                unanswered = True
            self._progress(standing)
            if standing.trouble is not None:
                self._tell_again(standing)
                raise as_error(standing.trouble)
            if standing.ready and (standing.asks or standing.over or standing.stopped_after):
                return standing
            quiet = quiet + pause if standing == before else 0.0
            pause = min(_LONGEST, pause * 1.5) if standing == before else _SHORTEST
            before = standing
            if quiet > _ANSWER_TIME.total_seconds():
                await self._require_workers(client)
                quiet = 0.0
            await asyncio.sleep(pause)

    def _tell_again(self, standing: RunStanding) -> None:
        """Show how a run with a problem continues after this command has ended."""
        if standing.again and not self.place.dev:
            when = in_time(standing.again)
            text = f"The run goes on by itself {when}; forge-bot resume tries at once."
            self.session.tell(Message(text=text))

    async def _standing(self, client: Client, handle: RunHandle) -> RunStanding:
        try:
            return await handle.query(ForgeRunWorkflow.standing, rpc_timeout=_ANSWER_TIME)
        except WorkflowQueryFailedError as error:
            await self._require_workers(client)
            raise _differs(error.message) from None
        except RPCError as error:
            if error.status not in {
                RPCStatusCode.DEADLINE_EXCEEDED,
                RPCStatusCode.FAILED_PRECONDITION,
                RPCStatusCode.CANCELLED,
            }:
                raise
            await self._require_workers(client)
            if why := await unread_by_worker(handle):
                raise _differs(why) from None
            return RunStanding()

    async def _require_workers(self, client: Client) -> None:
        """Raise NoTemporalWorker if no worker takes workflows, or steps of this clone."""
        kinds = (
            (ORCHESTRATION, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW),
            (self._queue, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY),
            (publishing_queue(self._queue), TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY),
        )
        for queue, kind in kinds:
            asked = DescribeTaskQueueRequest(
                namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
            )
            found = await client.workflow_service.describe_task_queue(asked)
            fresh = now().replace(tzinfo=None) - _FRESH
            if any(each.last_access_time.ToDatetime() > fresh for each in found.pollers):
                continue
            if queue == ORCHESTRATION or not await at_work(client, self._queue, queue):
                raise NoTemporalWorker(f"No worker takes work from the queue {queue}.")

    def _progress(self, standing: RunStanding) -> None:
        """Show the progress of a worker elsewhere; one in this process shows its own."""
        if self.place.dev or not standing.ready:
            return
        if standing.action_id != self._action and standing.step:
            self._action = standing.action_id
            self.session.tell(PhaseBegan(phase=standing.phase, label=standing.label))

    def _held(self, info: RunInfo) -> AbstractContextManager[Run]:
        """Open the run, waiting a moment for a worker that holds it."""
        return open_when_free(self.session, info, _PATIENCE, lambda: None)


async def _is_running(handle: RunHandle) -> bool:
    try:
        known = await handle.describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return known.status is WorkflowExecutionStatus.RUNNING


def _differs(why: str) -> TemporalWorkerDiffers:
    return TemporalWorkerDiffers(say(UNREAD), details=(why.partition("\n")[0][:200],))


async def _ended(handle: RunHandle) -> None:
    try:
        await handle.result()
    except WorkflowFailureError as failed:
        raise as_error(stop_in(failed.cause)[0]) from None
