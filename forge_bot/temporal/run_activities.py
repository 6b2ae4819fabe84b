"""The activities of a run: the host of the terminal, led until somebody else is next; and one
action that an agent asked for.
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from forge_bot.agent.capabilities import CapabilityResult, CapabilityType
from forge_bot.agent.fulfil_requests import (
    ActionsWanted,
    LeftAction,
    WantedAction,
    outstanding_action,
)
from forge_bot.bot.worker_messages import WorkerStopped, stopped_by
from forge_bot.engine import REPORT, Checkpoint, Done, Exec, HumanGate, carry_out
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
    GitFailed,
    GitHubUnavailable,
    ModelUnavailable,
    RateLimited,
    ReportRejected,
    RunBusy,
    TemporalRefused,
)
from forge_bot.forge import pull_request_opener
from forge_bot.git import Repository
from forge_bot.git.commits import find_key, try_key
from forge_bot.runs.agent_work.agents import Agents
from forge_bot.runs.find_runs import RunInfo, resolve_run
from forge_bot.runs.local_host import LocalHost, keep_left, keep_result, left_action, perform_left
from forge_bot.runs.models_and_prompts import TierModels
from forge_bot.runs.notifications import Notify
from forge_bot.runs.open_run import look_at_run, open_run
from forge_bot.runs.run import Run
from forge_bot.runs.session import Session
from forge_bot.settings.config import load_config
from forge_bot.store.files import waited_for
from forge_bot.temporal.workflows import ACTIVITY_OF_ACTION, GO_ON, Order, Said, Stands

_WAITS = BatchUnderWay | ModelUnavailable | GitHubUnavailable | RateLimited | RunBusy | GitFailed
"""Errors whose reason can go away by itself."""

_SOON = ModelUnavailable | GitHubUnavailable | GitFailed
_TRIES = 4
"""These are tried again at once, as often as this; only then the workflow waits."""

_OF_PEOPLE = Answered | GateShown | RetryAsked | BudgetRaised | Abandoned | Asked | ArtifactChanged

_PATIENCE = 600.0
"""Seconds to wait for a run that a command holds, or an earlier try that was given up."""

_LOOK = 0.2
Taken = TypeVar("Taken")
Do = Callable[[Order], Stands]
TellOf = Callable[[str], Notify]
"""Returns where the notices of a run go."""


@contextmanager
def open_when_free(
    session: Session, info: RunInfo, seconds: float, meanwhile: Callable[[], None]
) -> Generator[Run]:
    """Open a run, and wait while another process holds it. Raises RunBusy when the time is over."""
    with ExitStack() as held:
        ends = time.monotonic() + seconds
        while True:
            try:
                run = held.enter_context(open_run(session.repository, info, session.config))
                break
            except RunBusy:
                if time.monotonic() > ends:
                    raise
                meanwhile()
                time.sleep(_LOOK)
        yield run


def _send_heartbeat() -> None:
    activity.heartbeat()
    if activity.is_cancelled():
        raise asyncio.CancelledError


async def _run_with_heartbeat(work: Coroutine[Any, Any, Taken]) -> Taken:
    """Send the server heartbeats, and end the work when it is no longer wanted."""
    timeout = activity.info().heartbeat_timeout
    pause = timeout.total_seconds() / 4 if timeout is not None else 5.0
    task = asyncio.ensure_future(work)
    while not task.done():
        activity.heartbeat()
        await asyncio.wait({task}, timeout=min(pause, 2.0))
        if activity.is_cancelled():
            task.cancel()
    return await task


class RunActivities:
    """The work for runs of certain clones on this machine, and of no other folder."""

    def __init__(self, repositories: Sequence[Repository], tell_of: TellOf) -> None:
        self._roots = {repository.root for repository in repositories}
        self._tell_of = tell_of

    def list_activities(self) -> list[Do]:
        """Return the activities, each under its name."""
        actions = dict.fromkeys(ACTIVITY_OF_ACTION.values(), _RunWork.perform_action)
        work = {GO_ON: _RunWork.go_on, **actions}
        return [self._make_activity(name, do) for name, do in work.items()]

    def _make_activity(self, name: str, do: "Callable[[_RunWork], Stands]") -> Do:
        @activity.defn(name=name, no_thread_cancel_exception=True)
        def perform(order: Order) -> Stands:
            try:
                return do(_RunWork(self._make_session(order), order))
            except ForgeError as error:
                return _describe_trouble(error)
            # The server would repeat the words of any other error to everybody who reads the
            # history.
            except Exception as error:  # noqa: BLE001 - see above
                message = f"Something unexpected happened on the worker: {type(error).__name__}."
                activity.logger.exception(message)
                stop = WorkerStopped(code=ForgeError.code, message=message, exit_code=1)
                return Stands(why="waits", trouble=stop)

        return perform

    def _make_session(self, order: Order) -> Session:
        from forge_bot.runs.request_draft import poster

        begin = order.begin
        repository = Repository.find(Path(begin.repository))
        if repository.root not in self._roots:
            raise TemporalRefused(
                "This worker does not work in the folder that is asked for.",
                hint="Start one that does: forge-bot worker --repo FOLDER",
            )
        config = load_config(repository.root)
        return Session(
            repository,
            config,
            TierModels(config, begin.place.model),
            self._tell_of(begin.run),
            lambda _question: None,
            push=begin.place.push,
            post=poster(os.environ) if begin.place.post else None,
            open_pr=pull_request_opener(repository.root) if begin.place.open_pr else None,
            environ=os.environ,
        )


class _RunWork:
    """The work of one activity in a run."""

    def __init__(self, session: Session, order: Order) -> None:
        self.session = session
        self.order = order
        self.info = resolve_run(session.repository, order.begin.run)

    def _make_host(self, run: Run, *, leave_actions: bool = True) -> LocalHost:
        return self.session.local_host(
            run,
            leave_actions=leave_actions,
            delivered=lambda: self._push(run),
            raises=True,
        )

    def _push(self, run: Run) -> None:
        """Push the branch, so that a report is delivered before the next step begins."""
        if self.session.push and run.repository.remote_url() is not None and run.tree.unpushed():
            run.tree.push()

    def go_on(self) -> Stands:
        """Record what people said, and lead the run until somebody else is next."""
        with open_when_free(self.session, self.info, _PATIENCE, _send_heartbeat) as run:
            refused = {
                message.key: stopped_by(error)
                for message in self.order.said
                if (error := _record_message(run, message)) is not None
            }
            try:
                stands = self._lead(run)
            finally:
                self._push(run)
        return stands.replace(refused=refused)

    def _lead(self, run: Run) -> Stands:
        session, action = self.session, run.action
        if not isinstance(action, Checkpoint | HumanGate | Done):
            # A key that cannot sign is found before money is spent.
            root = run.repository.root
            if (key := find_key(root, session.environ, wanted=session.config.sign)) is not None:
                try_key(root, key)
            try:
                action = asyncio.run(_run_with_heartbeat(session.drive(run, self._make_host(run))))
            except ActionsWanted as wanted:
                keep_left(run, wanted)
                return Stands(why="actions", actions=tuple(map(_without_arguments, wanted.actions)))
        if isinstance(action, Done):
            session.finish(run, push=session.push)
            return Stands(why="over", text=action.outcome)
        return Stands(why="asks")

    # -- an action of an agent
    # ----------------------------------------------------------------------------------------------

    def perform_action(self) -> Stands:
        """Perform an action of an agent, unless its result is known."""
        assert self.order.action is not None  # noqa: S101 - its workflow orders nothing else
        key = self.order.action.key
        looked_at = look_at_run(self.session.repository, self.info, self.session.config)
        wanted = left_action(looked_at, key)
        if wanted is not None and wanted.capability_type is CapabilityType.MCP_TOOL:
            # Beside others: the run is held only to keep the result.
            agents = self._make_host(looked_at).agents
            return self._perform(agents, wanted, looked_at.places.lock)
        with open_when_free(self.session, self.info, _PATIENCE, _send_heartbeat) as run:
            if wanted is not None:
                return self._perform(self._make_host(run).agents, wanted)
            return self._make_approved_call(run, key)

    def _perform(self, agents: Agents, wanted: LeftAction, lock: Path | None = None) -> Stands:
        async def acted() -> str:
            known = agents.journal.observed(wanted.key) or await perform_left(agents, wanted)
            return await asyncio.to_thread(kept, known)

        def kept(result: CapabilityResult) -> str:
            with waited_for(lock) if lock is not None else nullcontext():
                return keep_result(agents, wanted, result).status.value

        try:
            return Stands(why="over", text=asyncio.run(_run_with_heartbeat(acted())))
        except BaseException:
            agents.project.runner.call_off()
            raise

    def _make_approved_call(self, run: Run, key: str) -> Stands:
        """Make a call that a person approved, once: it is recorded before it begins."""
        action = run.action
        if isinstance(action, Exec) and key in {call.key for call in outstanding_action(run.state)}:
            host = self._make_host(run, leave_actions=False)
            asyncio.run(_run_with_heartbeat(carry_out(run.pipeline, run.state, host, action)))
        ended = (call for call in run.state.calls if f"{call.artifact}/{call.index}" == key)
        return Stands(why="over", text=next(ended).status.value)


def _without_arguments(action: WantedAction) -> WantedAction:
    """Return an action as the server gets it: without arguments."""
    return WantedAction(
        key=action.key, capability=action.capability, capability_type=action.capability_type
    )


def _record_message(run: Run, message: Said) -> ForgeError | None:
    """Record a person's report, unless an earlier try did; return why it is refused, if it is."""
    try:
        report = REPORT.validate_json(message.report)
        if not isinstance(report, _OF_PEOPLE):
            raise ReportRejected("Only a person's report is taken here.")
        if report.key not in run.state.seen:
            run.tell(report)
    except ForgeError as error:
        return error
    except ValueError:
        return ReportRejected("This is no report.")
    return None


def _describe_trouble(error: ForgeError) -> Stands:
    """Return how a run stands after an error; raise it where it is tried again at once."""
    stop = stopped_by(error)
    seconds = stop.seconds or (stop.trouble.seconds if stop.trouble is not None else 0) or 0
    if isinstance(error, _SOON) and not seconds and activity.info().attempt < _TRIES:
        # Benign: our own words say it, and the library prints no traceback above them.
        benign = ApplicationErrorCategory.BENIGN
        raise ApplicationError(stop.message, type=stop.code, category=benign) from None
    why = "waits" if isinstance(error, _WAITS) else "stuck"
    return Stands(why=why, trouble=stop, seconds=seconds)
