"""A worker: takes the workflows and the work of clones on this machine, and of threads on GitHub,
from a Temporal server.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from forge_bot.git import Repository
from forge_bot.temporal.run_activities import RunActivities, TellOf
from forge_bot.temporal.run_place import name_queue
from forge_bot.temporal.run_workflow import ForgeActionWorkflow, ForgeRunWorkflow
from forge_bot.temporal.thread_activities import ThreadActivities
from forge_bot.temporal.thread_workflow import ForgeThreadWorkflow

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
