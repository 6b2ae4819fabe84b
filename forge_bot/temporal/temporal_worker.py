"""The worker: takes workflows and the work of clones on this machine from a Temporal server."""

from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from forge_bot.git import Repository
from forge_bot.temporal.action_workflow import ForgeActionWorkflow
from forge_bot.temporal.run_activities import RunActivities, TellOf
from forge_bot.temporal.run_place import queue_of
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from forge_bot.temporal.thread_activities import ThreadActivities
from forge_bot.temporal.thread_address import ORCHESTRATION
from forge_bot.temporal.thread_workflow import ForgeThreadWorkflow

USUAL_STEPS = 8
"""Steps that a worker takes at the same time in one clone."""

_GRACE = timedelta(seconds=20)
"""Time that steps have to end by themselves when the worker is stopped."""

_PURE = tuple(
    f"forge_bot.{room}"
    for room in (
        "agent.agent_steps",
        "agent.capabilities",
        "engine",
        "artifacts",
        "verification",
        "values",
        "errors",
        "remedies",
        "bot.outbox",
        "temporal.payloads",
    )
)
"""What the workflow imports: values and functions without clock, files and chance."""


def workflow_runner() -> SandboxedWorkflowRunner:
    """Return what runs workflows: in Temporal's sandbox, which holds them to be deterministic."""
    return SandboxedWorkflowRunner(SandboxRestrictions.default.with_passthrough_modules(*_PURE))


@asynccontextmanager
async def working(
    client: Client,
    repositories: Sequence[Repository],
    tell_of: TellOf,
    *,
    steps: int = USUAL_STEPS,
    grace: timedelta = _GRACE,
    visits: ThreadActivities | None = None,
) -> AsyncGenerator[None]:
    """Work on the runs of these clones, and in these threads, as long as the block lasts."""
    activities = RunActivities(repositories, tell_of).all()
    async with AsyncExitStack() as workers:
        for queue in {queue_of(repository) for repository in repositories}:
            # A step that waits for a thread gives no sign of life, and would count as lost.
            threads = workers.enter_context(ThreadPoolExecutor(max_workers=steps))
            await workers.enter_async_context(
                Worker(
                    client,
                    task_queue=queue,
                    activities=activities,
                    activity_executor=threads,
                    max_concurrent_activities=steps,
                    graceful_shutdown_timeout=grace,
                )
            )
        for queue in visits.queues if visits is not None else ():
            await workers.enter_async_context(
                Worker(
                    client,
                    task_queue=queue,
                    activities=[visits.visit] if visits is not None else [],
                    max_concurrent_activities=steps,
                    graceful_shutdown_timeout=grace,
                )
            )
        await workers.enter_async_context(
            Worker(
                client,
                task_queue=ORCHESTRATION,
                workflows=[ForgeRunWorkflow, ForgeActionWorkflow, ForgeThreadWorkflow],
                workflow_runner=workflow_runner(),
            )
        )
        yield
