"""The steps of an agent's work, for hosts that perform one step in each invocation.

The journal has the results of earlier steps, so the next invocation continues after them.
"""

from collections.abc import Awaitable, Sequence
from enum import StrEnum
from typing import TypeVar

from pydantic import Field

from forge_bot.agent.capabilities import CapabilityType
from forge_bot.errors import BatchUnderWay, ModelUnavailable
from forge_bot.values import Frozen

Result = TypeVar("Result")


class AgentStep(StrEnum):
    """One kind of step, cheapest first."""

    LOOKUPS = "lookup_round"
    ACTIONS = "actions"
    TRY = "try_edits"
    MODEL = "model_turn"
    LANDING = "landing"


class WantedAction(Frozen):
    """A call of a tool, or a skill, that an agent asked for. `key` is its result's place in the
    journal, or the place of the call in the run's documents.
    """

    key: str = Field(max_length=400)
    capability: str = Field(max_length=400)
    capability_type: CapabilityType


class StepChoice(Frozen):
    """The only kind of step that an invocation takes; of actions, the only one."""

    kind: AgentStep
    action: str = ""


class PausedBefore(Exception):
    """The work continues with this step in another invocation; each action has one of its own."""

    def __init__(self, step: AgentStep, actions: Sequence[WantedAction] = ()) -> None:
        super().__init__(step.value)
        self.step = step
        self.actions = tuple(actions)


class OneStep:
    """Lets one piece of work perform one step of the chosen kind; without a choice, all of them."""

    def __init__(self, choice: StepChoice | None = None) -> None:
        self._kind = choice and choice.kind
        self._action = choice and choice.action
        self._taken = False

    def begin(self, step: AgentStep) -> None:
        """Begin a step whose result is not known yet. Raises PausedBefore if it is another
        invocation's.
        """
        if self._kind is None:
            return
        if self._taken or step is not self._kind:
            raise PausedBefore(step)
        self._taken = True

    def left_to_others(self, actions: Sequence[WantedAction]) -> tuple[WantedAction, ...]:
        """Return the actions that other invocations take."""
        if self._kind is None:
            return ()
        return tuple(
            action
            for action in actions
            if self._kind is not AgentStep.ACTIONS or action.key != self._action
        )


class AgentStops:
    """The reasons why agents side by side have not ended."""

    def __init__(self) -> None:
        self._failure: ModelUnavailable | None = None
        self._parked: BatchUnderWay | None = None
        self._paused: list[PausedBefore] = []

    async def ended(self, agent: Awaitable[Result]) -> Result | None:
        """Return the result of an agent; None if it has not ended."""
        try:
            return await agent
        except ModelUnavailable as error:
            # What the others have paid for is not thrown away.
            self._failure = self._failure or error
        except BatchUnderWay as error:
            self._parked = self._parked or error
        except PausedBefore as pause:
            self._paused.append(pause)
        return None

    def land(self, *, lands: bool) -> bool:
        """Return whether the next result may land: in the order of the tasks, and not in an
        invocation for another step.
        """
        if lands and not (self._paused or self._parked):
            return True
        self._paused.append(PausedBefore(AgentStep.LANDING))
        return False

    def raise_reason(self) -> None:
        """Raise the reason, if there is one. Steps that can be taken come before waiting for a
        batch.

        Questions to models come after lookups and tries, so that they are asked at the same time.
        Landing comes last, in the order of the tasks.
        """
        if self._failure is not None:
            raise self._failure
        waiting = {pause.step for pause in self._paused}
        if self._parked is not None and not waiting - {AgentStep.LANDING}:
            raise self._parked
        if waiting:
            step = next(step for step in AgentStep if step in waiting)
            raise PausedBefore(step, [action for pause in self._paused for action in pause.actions])
