"""The steps of a run's actions, for hosts that perform each step separately."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from forge_bot.agent.agent_steps import AgentStep, PausedBefore, StepChoice, WantedAction
from forge_bot.agent.capabilities import CapabilityType, ResultStatus
from forge_bot.engine import Action, Exec, SpawnAgent, State, WriteFile, carry_out
from forge_bot.engine.call_records import outstanding_call
from forge_bot.engine.reports import CallEnded

if TYPE_CHECKING:
    from forge_bot.runs.local_host import LocalHost
    from forge_bot.runs.run import Run

ACTIVITY_OF_ACTION = {
    CapabilityType.MCP_TOOL: "execute_mcp_tool",
    CapabilityType.SKILL: "execute_skill",
}
"""Names of the steps that take one action of an agent each."""

PUBLISH = "publish"

_OPERATIONS = {
    "prepare": "setup",
    "verify": "checks",
    "apply-held": "apply_patch",
    "call-tools": AgentStep.ACTIONS.value,
    "step": "pipeline_step",
}

_AGENT_STEPS = {
    **{step.value: step for step in AgentStep},
    **dict.fromkeys(ACTIVITY_OF_ACTION.values(), AgentStep.ACTIONS),
}


def first_step(action: Action) -> str:
    """Return the step that begins an action."""
    match action:
        case SpawnAgent():
            return AgentStep.MODEL.value
        case WriteFile():
            return "write_document"
        case Exec():
            return _OPERATIONS.get(action.operation, PUBLISH)
        case _:
            raise AssertionError(action.type)


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


class TakenStep(NamedTuple):
    """The result of a step: the next step of the same action, empty at the end of the action; the
    actions that an agent asks for; and the outcome of such an action, else empty.
    """

    then: str = ""
    actions: tuple[WantedAction, ...] = ()
    outcome: str = ""


async def step_taken(
    run: "Run", host_of: "Callable[[StepChoice | None], LocalHost]", step: str, key: str = ""
) -> TakenStep:
    """Perform one step of the run's action; `key` is that of an action of an agent."""
    kind, action = _AGENT_STEPS.get(step), run.action
    assert isinstance(action, SpawnAgent | WriteFile | Exec)  # noqa: S101 - no other has steps
    host = host_of(StepChoice(kind=kind, action=key) if kind is not None else None)
    then, actions = "", tuple[WantedAction, ...]()
    try:
        await carry_out(run.pipeline, run.state, host, action)
    except PausedBefore as pause:
        then, actions = pause.step.value, pause.actions
    outcome = _outcome(run, host, action.action_id, key) if key else ""
    return TakenStep(then, actions, outcome)


def _outcome(run: "Run", host: "LocalHost", action_id: str, key: str) -> str:
    """Return the outcome of an agent's action, as the journal or the run's record has it."""
    if (found := host.agents.journal.observed(key)) is not None:
        return found.status.value
    last = run.workspace.reports()[-1]
    if isinstance(last, CallEnded) and last.action_id == action_id:
        return last.outcome.value
    return ResultStatus.UNKNOWN_CAPABILITY.value


def name_of(step: str, action: WantedAction | None) -> str:
    """Return the display name of a step; `action` is the capability that an agent asked for, if the
    step is that.
    """
    if step != AgentStep.ACTIONS.value:
        return step
    kind = action.capability_type if action is not None else CapabilityType.MCP_TOOL
    return ACTIVITY_OF_ACTION.get(kind, ACTIVITY_OF_ACTION[CapabilityType.MCP_TOOL])
