"""The workflow of one action that an agent asked for, and the activity that every step is."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from forge_bot.agent.agent_steps import WantedAction
    from forge_bot.agent.capabilities import CapabilityType
    from forge_bot.engine import State
    from forge_bot.engine.call_records import outstanding_call
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

_LONGEST = timedelta(hours=6)
"""A step that takes longer is given up. A worker that is lost is noticed much sooner."""

_TRIES = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=30),
    maximum_attempts=4,
)
_SUCCESS = frozenset({"ok", "done"})


async def step_done(order: StepOrder) -> StepDone:
    """Let a worker take a step. Raises ActivityError."""
    return await workflow.execute_activity(
        order.step,
        order,
        result_type=StepDone,
        task_queue=order.queue,
        start_to_close_timeout=_LONGEST,
        heartbeat_timeout=timedelta(seconds=order.begin.heartbeat_seconds),
        retry_policy=_TRIES,
    )


@workflow.defn(name="ForgeActionWorkflow")
class ForgeActionWorkflow:
    """One call of a tool, or one skill. It is a child of the run's workflow."""

    @workflow.run
    async def run(self, asked: ActionWorkflowInput) -> ActionWorkflowResult:
        """Let a worker take the action. One that failed has a result; what keeps a worker from
        taking it is raised.
        """
        action = asked.action
        name = ACTIVITY_OF_ACTION.get(action.capability_type)
        if name is None:
            done = StepDone(commit=asked.order.commit, outcome="unknown_capability")
        else:
            order = asked.order.model_copy(update={"step": name, "key": action.key})
            try:
                done = await step_done(order)
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                stop, passing = stop_in(error.cause)
                raise as_failure(stop, passing=passing) from None
        result = ActionResult(
            capability=action.capability,
            capability_type=action.capability_type,
            outcome=done.outcome,
            success=done.outcome in _SUCCESS,
        )
        return ActionWorkflowResult(result=result, done=done)


def outstanding_action(state: State) -> tuple[WantedAction, ...]:
    """Return the call of the run that is to be made next."""
    call = outstanding_call(state)
    if call is None:
        return ()
    return (
        WantedAction(
            key=f"{call.artifact}/{call.index}",
            capability=call.capability,
            capability_type=CapabilityType(call.capability_type),
        ),
    )


async def actions_done(order: StepOrder, actions: Sequence[WantedAction]) -> StepDone:
    """Let each action be a workflow of its own: calls of tools begin together, skills in turn.

    Raises what kept all of them from being taken. Those that others were kept from are asked for
    again.
    """
    kind = CapabilityType.SKILL
    tools = (_led(order, each) for each in actions if each.capability_type is not kind)
    ended = await asyncio.gather(*tools, return_exceptions=True)
    for each in actions:
        if each.capability_type is kind:
            ended += await asyncio.gather(_led(order, each), return_exceptions=True)
    done = [each for each in ended if not isinstance(each, BaseException)]
    for each in ended:
        if isinstance(each, BaseException) and not (done and isinstance(each, ChildWorkflowError)):
            raise each
    # The one that ended last knows which are left.
    return min(done, key=lambda each: len(each.actions))


async def _led(order: StepOrder, action: WantedAction) -> StepDone:
    """Let a workflow lead one action; its name in the server tells the run and the action."""
    ended = await workflow.execute_child_workflow(
        ForgeActionWorkflow.run,
        ActionWorkflowInput(action=action, order=order),
        id=f"{workflow.info().workflow_id}/{action.key}",
    )
    return ended.done
