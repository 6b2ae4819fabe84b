"""Visits to threads: each is the work of a job of the Action, as a process with a token, step by
step.
"""

import asyncio
import hashlib
import platform
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import ceil
from pathlib import Path
from uuid import uuid4

from temporalio import activity

from forge_bot.bot.job_start import default_tree
from forge_bot.bot.worker_messages import WorkerStopped, stopped_by
from forge_bot.engine import REPORT
from forge_bot.errors import (
    ForgeError,
    GitFailed,
    GitHubError,
    GitHubUnavailable,
    NotOnGitHub,
    PermissionMissing,
    RateLimited,
    RunBusy,
    StrangeAnswer,
    TemporalRefused,
    TokenRefused,
)
from forge_bot.gate.environment_variables import GATE_VARIABLES
from forge_bot.git import Repository
from forge_bot.github_api.app_tokens import APP_ID, APP_KEY, AppTokens
from forge_bot.runs.finding_runs.resolve_run import resolve_run
from forge_bot.runs.open_run import open_run
from forge_bot.sentences import hint_of
from forge_bot.settings import load_config, state_home
from forge_bot.store.run_folder import CARRIED
from forge_bot.temporal.payloads import STEPS, as_failure
from forge_bot.temporal.thread_address import LIMITED, machine_queue, thread_queue
from forge_bot.temporal.thread_payloads import ThreadWake, VisitDone, VisitOrder
from forge_bot.temporal.thread_workflow import VISIT
from forge_bot.temporal.visit_process import LiveVisit, new_folder, watched

_HANDED_ON = (
    *GATE_VARIABLES,
    "FORGE_BOT_MODEL",
    "FORGE_BOT_BUDGET",
    "FORGE_BOT_TRUST_LOCAL",
)
"""Inputs of the Action that count for a visit; what they leave empty is the worker's own."""

_OWN_FIRST = frozenset({"FORGE_BOT_ROLE", "FORGE_BOT_LOGIN", "FORGE_BOT_TRUST_LOCAL"})
"""Inputs that decide who may do what: where the worker sets them, no event changes them."""

_PASSING = {
    *("rate-limited", "model-down", LIMITED, "cancelled"),
    # Another worker may have one.
    "no-sandbox",
    *(each.code.lower() for each in (GitFailed, GitHubUnavailable, RunBusy)),
    *(each.code.lower() for each in (TokenRefused, PermissionMissing)),
}
"""Occasions whose reason can go away without a word in the thread."""

_OF_APPS = {NotOnGitHub.code.lower(), StrangeAnswer.code.lower(), RateLimited.code.lower()}
"""The same of the tokens of an App, which may be installed again."""

_MOST_BYTES = 1_000_000
"""Bytes of reports in one message; a server takes 2 MB."""

TellLine = Callable[[str], None]


class ThreadActivities:
    """Visits to the threads of certain repositories on GitHub, and of no others."""

    def __init__(
        self,
        repositories: Sequence[str],
        environ: Mapping[str, str],
        tell: TellLine,
        tokens: AppTokens | None = None,
        at_once: int = 8,
    ) -> None:
        self._tokens = tokens
        self._limits = GitHubLimits()
        self._live: dict[str, LiveVisit] = {}
        self.queue = f"forge-bot/worker/{uuid4().hex}"
        """The task queue of visits that wait here, and of their steps."""
        self._repositories = {each.casefold() for each in repositories}
        self._rooms = {each: asyncio.Semaphore(at_once) for each in self._repositories}
        self._environ = environ
        self._tell = tell
        self.searchable = False
        """Whether the server has the attributes by which threads are found."""

    @property
    def queues(self) -> list[str]:
        """Return the task queues of visits, for each repository."""
        return [thread_queue(self._server, each) for each in sorted(self._repositories)]

    @property
    def machine_queues(self) -> list[str]:
        """Return the queues of visits that continue on the machine with a run's journal."""
        return [self._machine_queue(each) for each in sorted(self._repositories)]

    @property
    def offered(self) -> dict[str, list[Callable[[VisitOrder], Awaitable[VisitDone]]]]:
        """Return the activities of each task queue; none without repositories."""
        if not self._repositories:
            return {}
        offered = dict[str, list[Callable[[VisitOrder], Awaitable[VisitDone]]]]()
        for queue in (*self.queues, *self.machine_queues):
            offered[queue] = [self.visit]
        return {**offered, self.queue: [self.visit, *self.steps]}

    @property
    def _server(self) -> str:
        return self._environ.get("GITHUB_SERVER_URL") or "https://github.com"

    def _machine_queue(self, repository: str) -> str:
        place = f"{platform.node()}:{state_home()}".encode("utf-8", "surrogateescape")
        machine = hashlib.sha256(place).hexdigest()[:12]
        return machine_queue(self._server, repository, machine)

    @property
    def steps(self) -> list[Callable[[VisitOrder], Awaitable[VisitDone]]]:
        """Return the activities that take one step of a visit each, under their names."""
        return [_activity(name, self._next_step) for name in STEPS]

    @activity.defn(name=VISIT)
    async def visit(self, order: VisitOrder) -> VisitDone:
        """Do the work of a job for an event, up to the first step of its run; return the end of the
        visit if it has ended.
        """
        self._check(order)
        if (live := self._live.pop(_name(order), None)) is not None:
            await live.stop(at_work=False)
        left = self._limits.left(order.repository)
        if left and order.wake.wake.comment is None:
            return self._limited(order, left)
        try:
            environ = await asyncio.to_thread(self._environ_for, order.repository)
        except GitHubError as error:
            # Without a token nothing can be posted in the thread: the next job does that.
            told = {
                "outcome": "failed",
                "occasion": error.code.lower(),
                "headline": f"{error.message} {hint_of(error)}",
                "untold": "true",
                "seconds": _seconds(error),
            }
            return await self._ended(order, told)
        return await self._up_to_step(order, await self._begun(order, environ))

    async def _begun(self, order: VisitOrder, environ: Mapping[str, str]) -> LiveVisit:
        """Start the process of a visit, once there is room for one more."""
        room = self._rooms[order.repository.casefold()]
        await watched(room.acquire(), activity.heartbeat)
        try:
            folder = new_folder()
            return await LiveVisit.begun(
                folder,
                _environment(order, folder, environ),
                lambda line: self._tell(f"{_name(order)}: {line}"),
                room.release,
            )
        # What an event brings may fit no process: the room is for the next one all the same.
        except BaseException:
            room.release()
            raise

    async def _next_step(self, order: VisitOrder) -> VisitDone:
        """Let a visit take its next step; if the visit is gone, begin again from the branch."""
        live = self._live.pop(_name(order), None)
        if live is None or live.closed:
            return await self.visit(order)
        live.go_on()
        return await self._up_to_step(order, live)

    async def end(self) -> None:
        """End the visits that wait here for their next step."""
        await asyncio.gather(*(each.stop(at_work=False) for each in self._live.values()))

    def _check(self, order: VisitOrder) -> None:
        if order.repository.casefold() not in self._repositories:
            error = TemporalRefused(
                f"This worker does not work for {order.repository}.",
                hint="Start one that does: forge-bot worker --github OWNER/NAME",
            )
            raise as_failure(stopped_by(error))

    async def _up_to_step(self, order: VisitOrder, live: LiveVisit) -> VisitDone:
        """Return the next step of a visit that waits for it, or how the visit ended."""
        try:
            step, taken = await live.next_step(activity.heartbeat)
            if step is not None:
                self._live[_name(order)] = live
                return VisitDone(
                    outcome="working",
                    taken=taken,
                    then=step.step,
                    action=step.action,
                    worker=self.queue,
                    machine=self._machine_queue(order.repository),
                    searchable=self.searchable,
                )
            code = await live.ended(activity.heartbeat)
        except asyncio.CancelledError:
            await live.stop(at_work=True)
            stop = WorkerStopped(
                cancelled=True,
                message="The worker was stopped.",
                exit_code=1,
            )
            raise as_failure(stop, passing=True) from None
        told = _read_outputs(live.folder / "outputs")
        shutil.rmtree(live.folder, ignore_errors=True)
        if not told and code not in (2, 5):
            message = f"The visit ended with {code}, without a word."
            stop = WorkerStopped(code=ForgeError.code, message=message, exit_code=1)
            raise as_failure(stop, passing=True)
        return await self._ended(order, told, taken)

    async def _ended(
        self, order: VisitOrder, told: Mapping[str, str], taken: str = ""
    ) -> VisitDone:
        occasion = told.get("occasion", "")
        done = VisitDone(
            taken=taken,
            outcome=told.get("outcome", "refused"),
            occasion=occasion,
            message=told.get("headline", ""),
            untold=bool(told.get("untold")),
            seconds=int(told.get("seconds") or 0),
            passing=occasion in _PASSING or (self._tokens is not None and occasion in _OF_APPS),
            machine=self._machine_queue(order.repository),
            searchable=self.searchable,
        )
        if self._tokens is not None and occasion:
            self._tokens.forget(order.repository)
        limited = occasion in {LIMITED, RateLimited.code.lower()}
        self._limits.note(order.repository, done.seconds if limited else 0)
        self._tell(f"{_name(order)}: the visit ended, {done.occasion or done.outcome}")
        return await asyncio.to_thread(_with_reports, done, order, told.get("branch", ""))

    def _limited(self, order: VisitOrder, seconds: int) -> VisitDone:
        """End a visit before GitHub is asked for anything: another one has met its limit."""
        self._tell(f"{_name(order)}: the visit ended, {LIMITED}")
        return VisitDone(
            outcome="failed",
            occasion=LIMITED,
            message=f"GitHub's rate limit is used up for another {seconds} seconds.",
            seconds=seconds,
            passing=True,
            untold=True,
            run=order.run,
            first=order.known,
        )

    def _environ_for(self, repository: str) -> Mapping[str, str]:
        """Return the environment with a token for this repository. Raises a GitHubError."""
        if self._tokens is None:
            return self._environ
        return {**self._environ, "GITHUB_TOKEN": self._tokens.token(repository)}


class GitHubLimits:
    """The limits of GitHub that visits have met, by repository, until they end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}

    def note(self, repository: str, seconds: int) -> None:
        """Note that a limit lasts so long; 0 for a visit that met none."""
        self._ends[repository.casefold()] = self._clock() + seconds

    def left(self, repository: str) -> int:
        """Return the seconds for which GitHub is left alone."""
        return max(ceil(self._ends.get(repository.casefold(), 0.0) - self._clock()), 0)


def _seconds(error: GitHubError) -> str:
    return str((isinstance(error, RateLimited) and error.seconds) or "")


def _name(order: VisitOrder) -> str:
    return f"{order.repository}#{order.wake.wake.issue}"


def _activity(
    name: str, do: Callable[[VisitOrder], Awaitable[VisitDone]]
) -> Callable[[VisitOrder], Awaitable[VisitDone]]:
    @activity.defn(name=name)
    async def step(order: VisitOrder) -> VisitDone:
        return await do(order)

    return step


def _environment(order: VisitOrder, folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a job, of what the event says and this worker has.

    Whom the token is shown to is for the worker to say, not for an event, and who may do what if
    it says so.
    """
    wake: ThreadWake = order.wake
    (folder / "event.json").write_text(wake.event or "{}", encoding="utf-8")
    (folder / "outputs").touch()
    hidden = ("TEMPORAL_", APP_ID, APP_KEY)
    own = {name: text for name, text in environ.items() if not name.startswith(hidden)}
    kept = {name for name in _OWN_FIRST if own.get(name)}
    given = {
        name: text
        for name, text in wake.inputs.items()
        if name in _HANDED_ON and name not in kept and text
    }
    return {
        **own,
        **given,
        "FORGE_BOT_BY_TIMER": "true",
        "FORGE_BOT_WAKE": wake.wake.model_dump_json(),
        "GITHUB_REPOSITORY": order.repository,
        "GITHUB_RUN_ID": wake.job,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": "",
    }


def _read_outputs(file: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    lines = file.read_text(encoding="utf-8").splitlines()
    while lines:
        name, _, delimiter = lines.pop(0).partition("<<")
        end = lines.index(delimiter)
        found[name] = "\n".join(lines[:end])
        del lines[: end + 1]
    return found


def _with_reports(done: VisitDone, order: VisitOrder, branch: str) -> VisitDone:
    """Add how the run stands, and the reports that the workflow lacks, if a message takes them."""
    if not branch:
        return done.replace(over=not done.passing)
    try:
        repository = Repository.find(default_tree(order.repository, order.wake.wake.issue))
        info = resolve_run(repository, branch)
        with open_run(repository, info, load_config(repository.root)) as run:
            lines = [REPORT.dump_json(each).decode() for each in run.workspace.reports()]
            ended = run.state.ended
            waits = run.state.gate is None and not ended
            parked = waits and (run.workspace.path / CARRIED).is_file()
            pipeline = run.pipeline.model_dump_json()
    except ForgeError:
        return done
    standing: dict[str, object] = {
        "run": info.name,
        "parked": parked,
        "over": ended and not done.passing,
    }
    first = order.known if order.run == info.name and order.known <= len(lines) else 0
    if sum(len(line.encode()) for line in lines[first:]) <= _MOST_BYTES:
        standing |= {"first": first, "reports": tuple(lines[first:])}
        standing["pipeline"] = "" if first else pipeline
    return done.model_copy(update=standing)
