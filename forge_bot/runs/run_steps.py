"""The steps of a run's actions, for hosts that perform each step separately."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from forge_bot.agent.actions_wanted import ActionsWanted, WantedAction
from forge_bot.agent.capabilities import CapabilityType, ResultStatus
from forge_bot.engine import Action, Exec, SpawnAgent, WriteFile, carry_out
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
AGENTS = "agents"
ACTIONS = "actions"
"""Actions of agents, each a step of its own."""

_OPERATIONS = {
    "prepare": "setup",
    "verify": "checks",
    "apply-held": "apply_patch",
    "call-tools": ACTIONS,
    "step": "pipeline_step",
}


def first_step(action: Action) -> str:
    """Return the step that begins an action."""
    match action:
        case SpawnAgent():
            return AGENTS
        case WriteFile():
            return "write_document"
        case Exec():
            return _OPERATIONS.get(action.operation, PUBLISH)
        case _:
            raise AssertionError(action.type)


class TakenStep(NamedTuple):
    """The result of a step: the next step of the same action, empty at the end of the action; the
    actions that an agent asks for; and the outcome of such an action, else empty.
    """

    then: str = ""
    actions: tuple[WantedAction, ...] = ()
    outcome: str = ""


async def step_taken(run: "Run", host_of: "Callable[[], LocalHost]", key: str = "") -> TakenStep:
    """Perform one step of the run's action; `key` is that of an action of an agent."""
    from forge_bot.runs.agent_work import left_actions

    if key and (wanted := left_actions.left_action(run, key)) is not None:
        agents = host_of().agents
        done = agents.journal.observed(key) or left_actions.keep_result(
            agents, wanted, await left_actions.performed(agents, wanted)
        )
        return TakenStep(AGENTS, outcome=done.status.value)
    action = run.action
    assert isinstance(action, SpawnAgent | WriteFile | Exec)  # noqa: S101 - no other has steps
    host = host_of()
    host.agents.leave_actions = not key
    try:
        await carry_out(run.pipeline, run.state, host, action)
    except ActionsWanted as left:
        left_actions.keep_left(run, left)
        return TakenStep(ACTIONS, left.actions)
    return TakenStep(outcome=_outcome(run, action.action_id) if key else "")


def _outcome(run: "Run", action_id: str) -> str:
    """Return the outcome of a call that a person approved, as the run's record has it."""
    last = run.workspace.reports()[-1]
    if isinstance(last, CallEnded) and last.action_id == action_id:
        return last.outcome.value
    return ResultStatus.UNKNOWN_CAPABILITY.value


def name_of(step: str, action: WantedAction | None) -> str:
    """Return the display name of a step; `action` is the capability that an agent asked for, if the
    step is that.
    """
    if step != ACTIONS:
        return step
    kind = action.capability_type if action is not None else CapabilityType.MCP_TOOL
    return ACTIVITY_OF_ACTION.get(kind, ACTIVITY_OF_ACTION[CapabilityType.MCP_TOOL])
