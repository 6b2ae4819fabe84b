"""A worker: takes the workflows and the work of clones on this machine, and of threads on GitHub,
from a Temporal server. `go_on` of a thread is a job of the Action, as a process with a token.
"""

import asyncio
import os
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from forge_bot.errors import (
    ForgeError,
    GitFailed,
    GitHubUnavailable,
    ModelUnavailable,
    NoSandbox,
    PermissionMissing,
    RunBusy,
    TemporalRefused,
    TokenRefused,
)
from forge_bot.forge import job_variables, server_of
from forge_bot.gate.environment_variables import GATE_VARIABLES
from forge_bot.git import Repository
from forge_bot.sandbox.helper_processes import keeper
from forge_bot.temporal.run_activities import RunActivities, TellOf
from forge_bot.temporal.temporal_server import name_queue
from forge_bot.temporal.workflows import (
    ForgeActionWorkflow,
    ForgeRunWorkflow,
    ForgeThreadWorkflow,
    JobDone,
    ThreadOrder,
    thread_queue,
)

_HANDED_ON = (
    *GATE_VARIABLES,
    "FORGE_BOT_MODEL",
    "FORGE_BOT_BUDGET",
    "FORGE_BOT_TRUST_LOCAL",
)
"""Inputs of the Action that count for a job; what they leave empty is the worker's own."""

_OWN_FIRST = frozenset({"FORGE_BOT_ROLE", "FORGE_BOT_LOGIN", "FORGE_BOT_TRUST_LOCAL"})
"""Inputs that decide who may do what: where the worker sets them, no event changes them."""

_PASSING = {
    *("rate-limited", "github-limited", "cancelled", "batch-under-way"),
    *(error.code.lower() for error in (GitFailed, GitHubUnavailable, ModelUnavailable, RunBusy)),
    # Another worker may have a sandbox.
    *(error.code.lower() for error in (NoSandbox, TokenRefused, PermissionMissing)),
}
"""Occasions whose reason can go away without a word in the thread."""

_HEARTBEAT_SECONDS = 5.0


class ThreadActivities:
    """Jobs for the threads of certain repositories on GitHub, and of no others."""

    def __init__(
        self,
        repositories: Sequence[str],
        environ: Mapping[str, str],
        tell: Callable[[str], None],
    ) -> None:
        self._repositories = {repository.casefold() for repository in repositories}
        self._environ = environ
        self._tell = tell

    @property
    def queues(self) -> list[str]:
        """Return the task queues of the threads, for each repository."""
        server = server_of(self._environ)
        return [thread_queue(server, repository) for repository in sorted(self._repositories)]

    @activity.defn
    async def go_on(self, order: ThreadOrder) -> JobDone:
        """Do the job of an event; return how it ended."""
        if order.repository.casefold() not in self._repositories:
            raise _make_failure(
                TemporalRefused(f"This worker does not work for {order.repository}."), again=False
            )
        with tempfile.TemporaryDirectory(prefix="forge-bot-job-") as folder:
            environ = _make_job_environment(order, Path(folder), self._environ)
            code = await self._run_job(order, environ, folder)
            outputs = _read_outputs(Path(folder) / "outputs")
        if not outputs and code not in (2, 5):
            raise _make_failure(
                ForgeError(f"The job ended with {code}, without a word."), again=True
            )
        return self._describe_end(order, outputs)

    async def _run_job(self, order: ThreadOrder, environ: Mapping[str, str], folder: str) -> int:
        """Run a job of the bot, which ends with this process; return its exit code."""
        process = await asyncio.create_subprocess_exec(
            *keeper(),
            *(sys.executable, "-P", "-m", "forge_bot", "work"),
            cwd=folder,
            env=dict(environ),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
        )
        ended = asyncio.ensure_future(self._follow_output(process, _name_issue(order)))
        try:
            while not ended.done():
                activity.heartbeat()
                await asyncio.wait({ended}, timeout=_HEARTBEAT_SECONDS)
            return await ended
        finally:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            await ended

    async def _follow_output(self, process: Process, name: str) -> int:
        while process.stdout is not None and (line := await process.stdout.readline()):
            self._tell(f"{name}: {line.decode('utf-8', 'replace').rstrip()}")
        return await process.wait()

    def _describe_end(self, order: ThreadOrder, outputs: Mapping[str, str]) -> JobDone:
        occasion, outcome = outputs.get("occasion", ""), outputs.get("outcome", "refused")
        again, begun = occasion in _PASSING, bool(outputs.get("branch"))
        self._tell(f"{_name_issue(order)}: the job ended, {occasion or outcome}")
        return JobDone(
            outcome=outcome,
            again=again,
            seconds=int(outputs.get("seconds") or 0),
            begun=begun,
            over=not again and (not begun or outcome in {"done", "abandoned"}),
        )


def _name_issue(order: ThreadOrder) -> str:
    return f"{order.repository}#{order.wake.wake.issue}"


def _make_failure(error: ForgeError, *, again: bool) -> ApplicationError:
    # Benign: our own words say it, and the library prints no traceback above them.
    return ApplicationError(
        error.message,
        type=error.code,
        non_retryable=not again,
        category=ApplicationErrorCategory.BENIGN,
    )


def _make_job_environment(
    order: ThreadOrder, folder: Path, environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a job, of what the event says and this worker has.

    Whom the token is shown to is for the worker to say, not for an event, and who may do what if
    it says so.
    """
    wake = order.wake
    (folder / "event.json").write_text(wake.event or "{}", encoding="utf-8")
    (folder / "outputs").touch()
    own = {name: text for name, text in environ.items() if not name.startswith("TEMPORAL_")}
    kept = {name for name in _OWN_FIRST if own.get(name)}
    given = {
        name: text
        for name, text in wake.inputs.items()
        if name in _HANDED_ON and name not in kept and text and "\0" not in text
    }
    return {
        **own,
        **given,
        "FORGE_BOT_BY_TIMER": "true",
        "FORGE_BOT_WAKE": wake.wake.model_dump_json(),
        **job_variables(
            order.repository,
            wake.job.replace("\0", ""),
            str(folder / "event.json"),
            str(folder / "outputs"),
        ),
    }


def _read_outputs(file: Path) -> dict[str, str]:
    outputs: dict[str, str] = {}
    lines = file.read_text(encoding="utf-8").splitlines()
    while lines:
        name, _, delimiter = lines.pop(0).partition("<<")
        end = lines.index(delimiter)
        outputs[name] = "\n".join(lines[:end])
        del lines[: end + 1]
    return outputs


# -- the worker
# --------------------------------------------------------------------------------------------------

AT_ONCE = 8
"""Activities at the same time in a clone, or for the issues of a repository."""

_GRACE = timedelta(seconds=20)
"""Time that work has to end by itself when the worker is stopped."""

_PULSE = timedelta(seconds=2)
"""Pause between two signs of life, which also tell that work is no longer wanted."""

_Activities = Sequence[Callable[..., Any]]


@asynccontextmanager
async def work_at_server(
    client: Client,
    repositories: Sequence[Repository],
    tell_of: TellOf,
    threads: ThreadActivities | None = None,
    *,
    at_once: int = AT_ONCE,
    grace: timedelta = _GRACE,
) -> AsyncGenerator[None]:
    """Work on the runs of these clones, and in these threads, as long as the block lasts."""
    of_runs = RunActivities(repositories, tell_of).list_activities()
    async with AsyncExitStack() as held:

        def take(queue: str, workflows: Sequence[type], activities: _Activities) -> Worker:
            return Worker(
                client,
                task_queue=queue,
                workflows=workflows,
                activities=activities,
                activity_executor=held.enter_context(ThreadPoolExecutor(at_once)),
                max_concurrent_activities=at_once,
                max_heartbeat_throttle_interval=_PULSE,
                graceful_shutdown_timeout=grace,
                # The workflows use nothing but the values that travel.
                workflow_runner=SandboxedWorkflowRunner(
                    SandboxRestrictions.default.with_passthrough_modules("forge_bot")
                ),
            )

        leading = (ForgeRunWorkflow, ForgeActionWorkflow)
        workers = [take(name_queue(repository), leading, of_runs) for repository in repositories]
        if threads is not None:
            jobs = (threads.go_on,)
            workers += [take(queue, (ForgeThreadWorkflow,), jobs) for queue in threads.queues]
        for worker in workers:
            await held.enter_async_context(worker)
        yield
