"""Actions of agents (calls of tools, skills) that their host leaves to others, and the reasons why
agents side by side have not ended.
"""

from collections.abc import Awaitable, Sequence
from typing import TypeVar

from pydantic import Field

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityType
from forge_bot.engine import State
from forge_bot.engine.call_records import outstanding_call
from forge_bot.errors import BatchUnderWay, ModelUnavailable
from forge_bot.values import Frozen, TaskId

Result = TypeVar("Result")


class WantedAction(Frozen):
    """A call of a tool, or a skill, that an agent asked for. `key` is its result's place in the
    journal, or the place of the call in the run's documents.
    """

    key: str = Field(max_length=400)
    capability: str = Field(max_length=400)
    capability_type: CapabilityType


class LeftAction(WantedAction):
    """A wanted action within a conversation, with everything that performing it takes."""

    request: CapabilityRequest
    task: TaskId | None = None


class ActionsWanted(Exception):
    """The work continues when these actions have results: in the journal by their keys, or in the
    run's record.
    """

    def __init__(self, actions: Sequence[WantedAction]) -> None:
        super().__init__(", ".join(action.key for action in actions))
        self.actions = tuple(actions)


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


class AgentStops:
    """The reasons why agents side by side have not ended."""

    def __init__(self) -> None:
        self._failure: ModelUnavailable | None = None
        self._parked: BatchUnderWay | None = None
        self._wanted: list[WantedAction] = []

    async def ended(self, agent: Awaitable[Result]) -> Result | None:
        """Return the result of an agent; None if it has not ended."""
        try:
            return await agent
        except ModelUnavailable as error:
            # What the others have paid for is not thrown away.
            self._failure = self._failure or error
        except BatchUnderWay as error:
            self._parked = self._parked or error
        except ActionsWanted as wanted:
            self._wanted += wanted.actions
        return None

    @property
    def lands(self) -> bool:
        """Return whether the next result may land: they land in the order of the tasks."""
        return not (self._wanted or self._parked)

    def raise_reason(self) -> None:
        """Raise the reason, if there is one. Actions are performed before a batch is waited for."""
        if self._failure is not None:
            raise self._failure
        if self._wanted:
            raise ActionsWanted(self._wanted)
        if self._parked is not None:
            raise self._parked
