"""The steps in which the actions of a run are taken by hosts for which each is a piece of work."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from forge_bot.agent.agent_steps import AgentStep, PausedBefore, StepChoice, WantedAction
from forge_bot.agent.capabilities import CapabilityType
from forge_bot.engine import Action, Exec, Host, SpawnAgent, WriteFile, carry_out

if TYPE_CHECKING:
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


async def step_taken(
    run: "Run", host_of: Callable[[StepChoice | None], Host], step: str, key: str = ""
) -> PausedBefore | None:
    """Take one step of the run's action; where the action goes on, None where it is done."""
    kind, action = _AGENT_STEPS.get(step), run.action
    assert isinstance(action, SpawnAgent | WriteFile | Exec)  # noqa: S101 - no other has steps
    host = host_of(StepChoice(kind=kind, action=key) if kind is not None else None)
    try:
        await carry_out(run.pipeline, run.state, host, action)
    except PausedBefore as pause:
        return pause
    return None


def name_of(step: str, actions: tuple[WantedAction, ...]) -> str:
    """Return the name of a step by what it does; of actions, the first."""
    if step != AgentStep.ACTIONS.value:
        return step
    kind = actions[0].capability_type if actions else CapabilityType.MCP_TOOL
    return ACTIVITY_OF_ACTION.get(kind, ACTIVITY_OF_ACTION[CapabilityType.MCP_TOOL])
