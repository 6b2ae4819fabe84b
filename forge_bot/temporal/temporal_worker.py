"""The worker: takes workflows and the work of clones on this machine from a Temporal server."""

from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from forge_bot.git import Repository
from forge_bot.temporal.action_workflow import ForgeActionWorkflow
from forge_bot.temporal.payloads import StepDone, StepOrder, publishing_queue
from forge_bot.temporal.run_activities import RunActivities, TellOf
from forge_bot.temporal.run_place import queue_of
from forge_bot.temporal.run_workflow import ForgeRunWorkflow
from forge_bot.temporal.thread_activities import ThreadActivities
from forge_bot.temporal.thread_address import ORCHESTRATION
from forge_bot.temporal.thread_workflow import ForgeThreadWorkflow
from forge_bot.temporal.worker_parts import StepRoom, WorkerDuty, WorkerPart

StepActivity = Callable[[StepOrder], StepDone]

_GRACE = timedelta(seconds=20)
"""Time that steps have to end by themselves when the worker is stopped."""

# It is read when a design's tasks are, and has no clock, files or chance either.
_PURE = (
    "markdown_it",
    *(
        f"forge_bot.{room}"
        for room in (
            "agent.actions_wanted",
            "agent.capabilities",
            "engine",
            "artifacts",
            "verification",
            "values",
            "errors",
            "remedies",
            # The texts for people: files that are read and compiled once, and never change.
            "sentences",
            "resources",
            "runs.run_steps",
            "temporal.payloads",
            "temporal.thread_payloads",
            "temporal.search_attributes",
        )
    ),
)
"""The workflow's imports: values and functions without clock and randomness, and without files but
for the texts.
"""

_READERS = ("markdown_it", "mdurl")
"""The later imports of those functions, at their first Markdown: they are as pure."""


def workflow_runner() -> SandboxedWorkflowRunner:
    """Return the runner of workflows: Temporal's sandbox, which checks their determinism."""
    return SandboxedWorkflowRunner(
        SandboxRestrictions.default.with_passthrough_modules(*_PURE, *_READERS)
    )


@asynccontextmanager
async def working(
    client: Client,
    repositories: Sequence[Repository],
    tell_of: TellOf,
    duty: WorkerDuty | None = None,
    *,
    without_sandbox: Collection[Path] = (),
    grace: timedelta = _GRACE,
    visits: ThreadActivities | None = None,
) -> AsyncGenerator[None]:
    """Work on the runs of these clones, and in these threads, as long as the block lasts.

    No step of the clones `without_sandbox` is taken.
    """
    duty = duty or WorkerDuty()
    does = RunActivities(
        repositories,
        tell_of,
        StepRoom(duty.in_all),
        pushes=WorkerPart.PUBLISHING in duty.parts,
    )
    async with AsyncExitStack() as held:
        for queue, activities in _offered(does, repositories, duty, without_sandbox).items():
            steps = _of_steps(held, client, queue, activities, duty, grace)
            await held.enter_async_context(steps)
        if visits is not None:
            held.push_async_callback(visits.end)
            for worker in _of_visits(client, visits, duty, grace):
                await held.enter_async_context(worker)
        if WorkerPart.ORCHESTRATION in duty.parts:
            await held.enter_async_context(_of_workflows(client))
        yield


def _offered(
    does: RunActivities,
    repositories: Sequence[Repository],
    duty: WorkerDuty,
    without_sandbox: Collection[Path],
) -> Mapping[str, Sequence[StepActivity]]:
    """Return the steps of these clones that this worker takes, by their queues."""
    offered = dict[str, Sequence[StepActivity]]()
    for repository in repositories:
        queue = queue_of(repository)
        if WorkerPart.EXECUTION in duty.parts and repository.root not in without_sandbox:
            offered[queue] = does.executing()
        if WorkerPart.PUBLISHING in duty.parts:
            offered[publishing_queue(queue)] = does.publishing()
    return offered


def _of_steps(
    held: AsyncExitStack,
    client: Client,
    queue: str,
    activities: Sequence[StepActivity],
    duty: WorkerDuty,
    grace: timedelta,
) -> Worker:
    # A step that waits for a thread gives no sign of life, and would count as lost.
    threads = held.enter_context(ThreadPoolExecutor(max_workers=duty.in_each_clone))
    return Worker(
        client,
        task_queue=queue,
        activities=activities,
        activity_executor=threads,
        max_concurrent_activities=duty.in_each_clone,
        graceful_shutdown_timeout=grace,
    )


def _of_visits(
    client: Client, visits: ThreadActivities, duty: WorkerDuty, grace: timedelta
) -> Iterator[Worker]:
    for queue, tasks in visits.offered.items():
        yield Worker(
            client,
            task_queue=queue,
            activities=tasks,
            # A visit that has begun waits for no other one to take its next step.
            max_concurrent_activities=duty.in_each_clone * len(visits.offered),
            graceful_shutdown_timeout=grace,
        )


def _of_workflows(client: Client) -> Worker:
    return Worker(
        client,
        task_queue=ORCHESTRATION,
        workflows=[ForgeRunWorkflow, ForgeActionWorkflow, ForgeThreadWorkflow],
        workflow_runner=workflow_runner(),
    )
