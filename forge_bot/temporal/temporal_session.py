"""One invocation at a terminal for a run that a server leads: begin, report, follow, ask."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from datetime import timedelta

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from forge_bot.bot.worker_messages import as_error
from forge_bot.engine import REPORT, Checkpoint, HumanGate, Report, advance
from forge_bot.engine.reports import Abandoned, Answered
from forge_bot.errors import ForgeError, StaleApproval, TemporalUnavailable
from forge_bot.interaction.number_format import in_time
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.notifications import Message
from forge_bot.runs.run import Run
from forge_bot.runs.session import Session, TerminalHost
from forge_bot.runs.this_process import Outcome, outcome_of
from forge_bot.temporal.run_activities import open_when_free
from forge_bot.temporal.temporal_server import (
    TemporalPlace,
    find_history_file,
    keep_place,
    make_forge_error,
    name_queue,
    name_workflow,
    open_connection,
)
from forge_bot.temporal.temporal_worker import work_at_server
from forge_bot.temporal.workflows import ForgeRunWorkflow, RunBegin, Said, Stands

RunHandle = WorkflowHandle[ForgeRunWorkflow, str]

_SHORTEST, _LONGEST = 0.05, 1.0
"""Seconds between two queries of a run that works."""

_ANSWER_TIME = timedelta(seconds=5)
"""Time in which a worker says how a run stands."""

_UNANSWERED = frozenset(
    {
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.FAILED_PRECONDITION,
        RPCStatusCode.CANCELLED,
    }
)
"""Statuses of a query that no worker took."""

_PATIENCE = 10.0
"""Seconds that a command waits for a run that a worker holds."""

_GRACE_OF_COMMAND = timedelta(seconds=1)


class TemporalSession:
    """Leads an invocation for a run on a server, as a Session does for a local run."""

    def __init__(self, session: Session, place: TemporalPlace) -> None:
        self.session = session
        self.place = place
        self._queue = name_queue(session.repository)
        self._unanswered = False

    def go_on(
        self, info: RunInfo, first: Callable[[Run], Report | None] | None = None
    ) -> tuple[Outcome, Run]:
        """Report to the run if a report is given, and follow it until nobody can perform the next
        action.

        Raises the run's problem, as the worker reported it.
        """
        return asyncio.run(self._lead(info, first))

    async def _lead(
        self, info: RunInfo, first: Callable[[Run], Report | None] | None
    ) -> tuple[Outcome, Run]:
        try:
            async with self._open_client(info) as client:
                handle, key = await self._report_first(client, info, first)
                return await self._follow(handle, info, key)
        except RPCError as error:
            raise make_forge_error(error, self.place) from error

    @asynccontextmanager
    async def _open_client(self, info: RunInfo) -> AsyncGenerator[Client]:
        """Connect; with an embedded server work here too."""
        repository = self.session.repository
        async with open_connection(self.place, find_history_file(repository, info.name)) as client:
            if not self.place.dev:
                yield client
                return
            tell = self.session.tell
            async with work_at_server(
                client, (repository,), lambda _: tell, grace=_GRACE_OF_COMMAND
            ):
                yield client

    def _hold_run(self, info: RunInfo) -> AbstractContextManager[Run]:
        """Open the run, waiting a moment for a worker that holds it."""
        return open_when_free(self.session, info, _PATIENCE, lambda: None)

    # -- telling
    # ----------------------------------------------------------------------------------------------

    async def _report_first(
        self, client: Client, info: RunInfo, first: Callable[[Run], Report | None] | None
    ) -> tuple[RunHandle, str]:
        """Report to the run, and see that a workflow leads it; return the key of the report."""
        handle = client.get_workflow_handle_for(
            ForgeRunWorkflow.run, name_workflow(self.session.repository, info.name)
        )
        leads = await _is_running(handle)
        if leads:
            # A person is told that no worker answers before their words wait for one.
            await self._query_standing(handle)
        report = None
        if first is not None:
            with self._hold_run(info) as run:
                report = self._check_report(run, first(run), leads=leads)
        if not leads:
            return await self._start_workflow(client, info), ""
        if report is None:
            await handle.signal(ForgeRunWorkflow.wake)
            return handle, ""
        return handle, await self._send_report(handle, report)

    def _check_report(self, run: Run, report: Report | None, *, leads: bool) -> Report | None:
        """Return the report for the workflow. Without one the report is recorded here, and the
        workflow begins from it. Raises the engine's error for a report that it refuses.
        """
        for notice in run.notices:
            self.session.tell(Message(text=notice))
        if report is None:
            return None
        try:
            if leads:
                advance(run.pipeline, run.state, report)
            else:
                run.tell(report)
        except StaleApproval:
            self.session.show_again(run)
            raise
        return report

    async def _start_workflow(self, client: Client, info: RunInfo) -> RunHandle:
        repository = self.session.repository
        begin = RunBegin(
            repository=str(repository.root),
            run=info.name,
            queue=self._queue,
            place=self.place,
        )
        keep_place(repository, info.name, self.place)
        return await client.start_workflow(
            ForgeRunWorkflow.run,
            begin,
            id=name_workflow(repository, info.name),
            task_queue=self._queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=f"{repository.root.name}: {info.name}",
        )

    async def _send_report(self, handle: RunHandle, report: Report) -> str:
        """Send a report, which counts once; return its key. Raises TemporalUnavailable."""
        message = Said(key=report.key, report=REPORT.dump_json(report).decode())
        try:
            # One of its overloads takes arguments that have no types.
            await handle.execute_update(ForgeRunWorkflow.say, message, id=message.key)  # pyright: ignore[reportUnknownMemberType]
        except (RPCError, WorkflowUpdateRPCTimeoutOrCancelledError) as lost:
            if isinstance(lost.__cause__, asyncio.CancelledError):
                raise lost.__cause__ from None
            raise TemporalUnavailable(
                "The Temporal server was lost while your answer was on its way; whether it arrived"
                " is not known.",
                hint="It counts once at most. When the server is back, `forge-bot resume` shows"
                " whether the question is still open.",
            ) from None
        return message.key

    # -- following
    # ----------------------------------------------------------------------------------------------

    async def _follow(self, handle: RunHandle, info: RunInfo, key: str) -> tuple[Outcome, Run]:
        while True:
            stands = await self._wait_until_settled(handle, key)
            with self._hold_run(info) as run:
                if stands.why == "over":
                    return outcome_of(run.action), run
                report = await self._ask_person(run)
            asked = isinstance(run.action, Checkpoint | HumanGate)
            if report is not None:
                key = await self._send_report(handle, report)
            elif asked:
                return outcome_of(run.action), run
            else:
                # Somebody else has answered on the branch.
                await handle.signal(ForgeRunWorkflow.wake)

    async def _ask_person(self, run: Run) -> Report | None:
        """Ask the person here; return their answer. What is shown and asked before is recorded."""
        action = run.action
        if not isinstance(action, Checkpoint | HumanGate):
            return None
        async with aclosing(TerminalHost(self.session, run).ask(run.state, action)) as reports:
            async for report in reports:
                if isinstance(report, Answered | Abandoned):
                    return report
                run.tell(report)
        return None

    async def _wait_until_settled(self, handle: RunHandle, key: str) -> Stands:
        """Return how the run stands when it stops; raise its problem."""
        pause = _SHORTEST
        while True:
            stands = await self._query_standing(handle)
            if stands is not None and (stop := stands.refused.get(key)) is not None:
                raise as_error(stop)
            if stands is not None and stands.trouble is not None:
                self._tell_again(stands.seconds)
                raise as_error(stands.trouble)
            if stands is not None:
                return stands
            if not await _is_running(handle):
                return Stands(why="over", text=await _read_result(handle))
            pause = min(_LONGEST, pause * 1.5)
            await asyncio.sleep(pause)

    def _tell_again(self, seconds: float) -> None:
        """Show how a run with a problem continues after this command has ended."""
        if seconds and not self.place.dev:
            when = in_time(round(seconds))
            text = f"The run goes on by itself {when}; forge-bot resume tries at once."
            self.session.tell(Message(text=text))

    async def _query_standing(self, handle: RunHandle) -> Stands | None:
        """Return why somebody else than a worker is next; None if one is, or does not answer."""
        try:
            return await handle.query(ForgeRunWorkflow.standing, rpc_timeout=_ANSWER_TIME)
        except (RPCError, WorkflowQueryFailedError) as error:
            if isinstance(error, RPCError) and error.status not in _UNANSWERED:
                raise
            if not (self._unanswered or self.place.dev):
                text = (
                    "No worker has answered yet; the run goes on when one does: forge-bot worker"
                    " starts one. One of another version may be unable to: forge-bot resume"
                    " --on local goes on here."
                )
                self.session.tell(Message(text=text))
                self._unanswered = True
            return None


async def _is_running(handle: RunHandle) -> bool:
    try:
        known = await handle.describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return known.status is WorkflowExecutionStatus.RUNNING


async def _read_result(handle: RunHandle) -> str:
    try:
        return await handle.result()
    except WorkflowFailureError as failed:
        raise ForgeError(f"The workflow of the run has ended: {failed.cause}.") from None
