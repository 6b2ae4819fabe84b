"""The workflow of one action that an agent asked for, and the activity that every step is."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from forge_bot.agent.actions_wanted import WantedAction
    from forge_bot.agent.capabilities import CapabilityType, ResultStatus
    from forge_bot.bot.worker_messages import WorkerStopped
    from forge_bot.errors import RunMoved
    from forge_bot.runs.run_steps import ACTIVITY_OF_ACTION
    from forge_bot.temporal.payloads import (
        ActionResult,
        ActionWorkflowInput,
        ActionWorkflowResult,
        StepDone,
        StepOrder,
        as_failure,
        stop_in,
    )
    from forge_bot.temporal.thread_payloads import VisitDone, VisitStep

LONGEST = timedelta(hours=6)
"""A step that takes longer is given up. A worker that is lost is noticed much sooner."""

SILENCE = timedelta(seconds=20)
"""The worker of a visit without a sign of life for this long counts as lost."""

SOON = timedelta(seconds=30)
"""Time in which a living machine takes its own activities."""

_TRIES = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=30),
    maximum_attempts=4,
)
_SUCCESS = frozenset({"ok", "done"})


class StepMoved(Exception):
    """The branch of the run is another than a step expected; it has to be read again."""


class StepStopped(Exception):
    """A worker could not take a step. `passing`: the reason can go away by itself."""

    def __init__(self, stop: WorkerStopped, *, passing: bool) -> None:
        super().__init__(stop.message)
        self.stop = stop
        self.passing = passing


async def step_done(order: StepOrder) -> StepDone:
    """Let a worker take a step. Raises ActivityError."""
    return await workflow.execute_activity(
        order.step,
        order,
        result_type=StepDone,
        task_queue=order.queue,
        start_to_close_timeout=LONGEST,
        heartbeat_timeout=timedelta(seconds=order.begin.heartbeat_seconds),
        retry_policy=_TRIES,
    )


async def visit_step_done(step: VisitStep) -> VisitDone:
    """Let the worker of a visit take its next step. Raises ActivityError."""
    return await workflow.execute_activity(
        step.step,
        step.order,
        result_type=VisitDone,
        task_queue=step.queue,
        schedule_to_start_timeout=SOON,
        start_to_close_timeout=LONGEST,
        heartbeat_timeout=SILENCE,
        retry_policy=RetryPolicy(maximum_attempts=1),
    )


@workflow.defn(name="ForgeActionWorkflow")
class ForgeActionWorkflow:
    """One call of a tool, or one skill. It is a child of the workflow of a run or a thread."""

    @workflow.run
    async def run(self, asked: ActionWorkflowInput) -> ActionWorkflowResult:
        """Let a worker perform the action. A failed action has a result; a problem of the worker is
        raised.
        """
        action = asked.action
        try:
            outcome, done = await _taken(action, asked.order)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            stop, passing = stop_in(error.cause)
            raise as_failure(stop, passing=passing) from None
        result = ActionResult(
            capability=action.capability,
            capability_type=action.capability_type,
            outcome=outcome,
            success=outcome in _SUCCESS,
        )
        return ActionWorkflowResult(result=result, done=done)


async def _taken(
    action: WantedAction, order: StepOrder | VisitStep
) -> tuple[str, StepDone | VisitDone]:
    """Let a worker perform the action; return its outcome, and the state for the workflow above."""
    if isinstance(order, VisitStep):
        visited = await visit_step_done(order)
        return visited.taken, visited
    name = ACTIVITY_OF_ACTION.get(action.capability_type)
    if name is None:
        unknown = ResultStatus.UNKNOWN_CAPABILITY.value
        return unknown, StepDone(commit=order.commit, outcome=unknown)
    done = await step_done(order.replace(step=name, key=action.key))
    return done.outcome, done


async def actions_done(order: StepOrder, actions: Sequence[WantedAction]) -> StepDone:
    """Let each action be a workflow of its own: calls of tools begin together, skills in turn.

    Raises what kept all of them from being taken. Those that others were kept from are asked for
    again.
    """
    kind = CapabilityType.SKILL
    tools = (action_done(order, each) for each in actions if each.capability_type is not kind)
    ended = await asyncio.gather(*tools, return_exceptions=True)
    for each in actions:
        if each.capability_type is kind:
            ended += await asyncio.gather(action_done(order, each), return_exceptions=True)
    done = [each for each in ended if isinstance(each, StepDone)]
    for each in ended:
        if isinstance(each, BaseException) and not (done and isinstance(each, ChildWorkflowError)):
            raise each
    # The one that ended last knows which are left.
    return min(done, key=lambda each: len(each.actions))


async def order_done(order: StepOrder, actions: Sequence[WantedAction]) -> StepDone:
    """Let a worker take a step, or each of these actions, and push what it did. Raises StepMoved,
    StepStopped.
    """
    try:
        done = await (actions_done(order, actions) if actions else step_done(order))
        if done.unpushed:
            known = order.known + len(done.reports)
            await step_done(order.replace(step="news", commit=done.commit, known=known))
    except (ActivityError, ChildWorkflowError) as error:
        if is_cancelled_exception(error):
            raise
        stop, passing = stop_in(error.cause)
        if stop.code == RunMoved.code:
            raise StepMoved from None
        raise StepStopped(stop, passing=passing) from None
    else:
        return done


async def action_done(order: StepOrder | VisitStep, action: WantedAction) -> StepDone | VisitDone:
    """Run one action as a workflow, whose name has the run or the thread, and the action.

    Raises ChildWorkflowError.
    """
    ended = await workflow.execute_child_workflow(
        ForgeActionWorkflow.run,
        ActionWorkflowInput(action=action, order=order),
        id=f"{workflow.info().workflow_id}/{action.key}",
    )
    return ended.done
