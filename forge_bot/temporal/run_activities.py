"""The activities of a run: each opens the run, performs one step with the local host, and closes
it.
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from forge_bot.agent.progress_events import ModelAnswered
from forge_bot.bot.worker_messages import WorkerStopped, stopped_by
from forge_bot.engine import REPORT, Exec, SpawnAgent, WriteFile
from forge_bot.errors import (
    ForgeError,
    GitFailed,
    GitHubUnavailable,
    ModelUnavailable,
    RateLimited,
    RunBusy,
    RunMoved,
    TemporalRefused,
)
from forge_bot.git import Repository
from forge_bot.git.revisions import is_ancestor
from forge_bot.git.signed_commits import find_key, try_key
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.finding_runs.resolve_run import run_named
from forge_bot.runs.local_host import LocalHost
from forge_bot.runs.notifications import Notice, Notify, PhaseBegan, PromptSent, Thinking
from forge_bot.runs.open_run import open_run
from forge_bot.runs.publishing.open_pull_request import opener
from forge_bot.runs.run import Run
from forge_bot.runs.run_steps import PUBLISH, step_taken
from forge_bot.runs.session import Session
from forge_bot.runs.tier_models import TierModels
from forge_bot.settings import load_config
from forge_bot.temporal.payloads import (
    STEPS,
    StepDone,
    StepOrder,
    as_failure,
)
from forge_bot.temporal.recorded_answers import answers_file
from forge_bot.temporal.worker_parts import StepRoom

_PASSING = ModelUnavailable | GitHubUnavailable | RateLimited | RunBusy | GitFailed
"""Errors whose reason can go away by itself."""

_PATIENCE = 600.0
"""Seconds to wait for a run that is held: by a person's command, or by an earlier try of the step
that has not noticed yet that it was given up."""

_MOST_BYTES = 1_000_000
"""Bytes of reports in one message; a server takes 2 MB."""

_LOOK = 0.2

Taken = TypeVar("Taken")

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


def _sign_of_life() -> None:
    """Send the server a heartbeat. Raises if the activity is no longer wanted."""
    activity.heartbeat()
    if activity.is_cancelled():
        raise RunBusy("Another process is working on the run.")


class RunActivities:
    """The work for runs of certain clones on this machine, and of no other folder."""

    def __init__(
        self,
        repositories: Sequence[Repository],
        tell_of: TellOf,
        room: StepRoom | None = None,
        *,
        pushes: bool = True,
    ) -> None:
        self._roots = {repository.root for repository in repositories}
        self._tell_of = tell_of
        self._room = room or StepRoom(0)
        self._pushes = pushes

    def publishing(self) -> list[Callable[[StepOrder], StepDone]]:
        """Return the activities that need neither a model nor the sandbox, each under its name."""
        plain = {"take_up": _taken_up, "news": _told, "record": _recorded, "finish": _finished}
        named = {name: partial(self._at_run, do) for name, do in plain.items()}
        return [_activity(name, do) for name, do in named.items()] + [self._step(PUBLISH)]

    def executing(self) -> list[Callable[[StepOrder], StepDone]]:
        """Return the activities that are steps of the work, each under its name."""
        return [self._step(name) for name in STEPS if name != PUBLISH]

    def _step(self, name: str) -> Callable[[StepOrder], StepDone]:
        def do(order: StepOrder) -> StepDone:
            with self._room.one(_sign_of_life):
                return self._at_run(_performed, order)

        return _activity(name, do)

    def _at_run(
        self, do: "Callable[[StepOrder, Session, Run], StepDone]", order: StepOrder
    ) -> StepDone:
        leaves = order.begin.push and not self._pushes
        if leaves:
            begin = order.begin.replace(push=False, open_pr=False)
            order = order.replace(begin=begin)
        try:
            session = self._session(order, self._tell(order))
            info = run_named(session.repository, order.begin.run)
            with open_when_free(session, info, _PATIENCE, _sign_of_life) as run:
                _check_place(order, run)
                return do(order, session, run).replace(unpushed=leaves)
        except ForgeError as error:
            raise as_failure(stopped_by(error), passing=isinstance(error, _PASSING)) from None
        except ApplicationError:
            raise
        # The server would repeat the words of any other error to everybody who reads the history.
        except Exception as error:  # noqa: BLE001 - see above
            message = f"Something unexpected happened on the worker: {type(error).__name__}."
            activity.logger.exception(message)
            stop = WorkerStopped(code=ForgeError.code, message=message, exit_code=1)
            raise as_failure(stop, passing=True) from None

    def _session(self, order: StepOrder, tell: Notify) -> Session:
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
            # Who publishes needs no key.
            TierModels(config, begin.model, answers_file(repository, begin.run))
            if order.step != PUBLISH
            else dict,
            tell,
            lambda _question: None,
            push=begin.push,
            post=poster(os.environ) if begin.post else None,
            open_pr=opener(repository.root) if begin.open_pr else None,
            environ=os.environ,
        )

    def _tell(self, order: StepOrder) -> Notify:
        tell = self._tell_of(order.begin.run)
        if order.first:
            return tell

        def rest(notice: Notice) -> None:
            again = isinstance(notice, Thinking) and _is_again(notice)
            if not again and not isinstance(notice, PhaseBegan | PromptSent):
                tell(notice)

        return rest


def _activity(name: str, do: Callable[[StepOrder], StepDone]) -> Callable[[StepOrder], StepDone]:
    @activity.defn(name=name, no_thread_cancel_exception=True)
    def perform(order: StepOrder) -> StepDone:
        return do(order)

    return perform


def _is_again(notice: Thinking) -> bool:
    return isinstance(notice.notice, ModelAnswered) and notice.notice.again


# -- what they do with an open run
# --------------------------------------------------------------------------------------------------


def _taken_up(order: StepOrder, session: Session, run: Run) -> StepDone:
    """Read the run for a workflow without its state. Raises BadSigningKey before money is spent."""
    root, wanted = run.repository.root, session.config.sign
    if not run.state.ended and (key := find_key(root, session.environ, wanted=wanted)) is not None:
        try_key(root, key)
    done = _told(order, session, run)
    return done.replace(pipeline=run.pipeline.model_dump_json())


def _recorded(order: StepOrder, _session: Session, run: Run) -> StepDone:
    """Record a person's report, unless an earlier try did."""
    report = REPORT.validate_json(order.report)
    if report.key not in run.state.seen:
        if len(run.workspace.reports()) != order.known:
            raise RunMoved("Somebody else went on with the run.")
        run.tell(report)
    return StepDone(commit=_delivered(order, run))


def _finished(_order: StepOrder, session: Session, run: Run) -> StepDone:
    """Deliver the record of a run that is over."""
    session.finish(run, push=session.push)
    return StepDone(commit=run.tree.head().commit)


def _performed(order: StepOrder, session: Session, run: Run) -> StepDone:
    """Perform one step of an action. If an earlier attempt or somebody else recorded it, return
    that record.
    """
    if len(run.workspace.reports()) != order.known:
        return _told(order, session, run)
    action = run.action
    if action.action_id != order.action_id or not isinstance(action, SpawnAgent | WriteFile | Exec):
        raise RunMoved(f"{order.action_id} is not what the run needs next.")

    def host_of() -> LocalHost:
        return session.local_host(
            run,
            delivered=lambda: _delivered(order, run),
            passing=(GitFailed, GitHubUnavailable, RateLimited),
        )

    taken = asyncio.run(_alive(step_taken(run, host_of, order.key)))
    return _told(order, session, run).model_copy(update=taken._asdict())


def _told(order: StepOrder, _session: Session, run: Run) -> StepDone:
    """Return the reports that the workflow does not know, when they are delivered."""
    commit = _delivered(order, run)
    lines = [REPORT.dump_json(report).decode() for report in run.workspace.reports()]
    fitting, room = list[str](), _MOST_BYTES
    for line in lines[order.known :]:
        room -= len(line.encode())
        if room < 0 and fitting:
            break
        fitting.append(line)
    more = order.known + len(fitting) < len(lines)
    return StepDone(commit=commit, reports=tuple(fitting), more=more)


def _delivered(order: StepOrder, run: Run) -> str:
    """Push the branch; return its newest commit."""
    if order.begin.push and run.repository.remote_url() is not None and run.tree.unpushed():
        run.tree.push()
    return run.tree.head().commit


def _check_place(order: StepOrder, run: Run) -> None:
    """Raise RunMoved if the branch lacks commits or reports that the workflow knows."""
    lacks = len(run.workspace.reports()) < order.known
    head = run.tree.head().commit
    if lacks or (order.commit and not is_ancestor(run.repository.root, order.commit, head)):
        raise RunMoved(f"The branch {run.state.branch} was put back.")


async def _alive(work: Coroutine[Any, Any, Taken]) -> Taken:
    """Send the server heartbeats, and end the work when it is no longer wanted."""
    timeout = activity.info().heartbeat_timeout
    pause = timeout.total_seconds() / 4 if timeout is not None else 5.0
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            activity.heartbeat()
            await asyncio.wait({task}, timeout=pause)
            if activity.is_cancelled():
                task.cancel()
        return await task
    except asyncio.CancelledError:
        stop = WorkerStopped(cancelled=True, message="The worker was stopped.", exit_code=1)
        raise as_failure(stop, passing=True) from None
