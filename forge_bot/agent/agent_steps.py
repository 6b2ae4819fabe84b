"""The steps of an agent's work, for hosts that take one step in each invocation.

The journal has the results of earlier steps. So the next invocation goes on where this one paused.
"""

from collections.abc import Iterable
from enum import StrEnum


class AgentStep(StrEnum):
    """One kind of step, cheapest first."""

    LOOKUPS = "lookup_round"
    TRY = "try_edits"
    MODEL = "model_turn"
    LANDING = "landing"


class PausedBefore(Exception):
    """The work goes on with this step, in another invocation."""

    def __init__(self, step: AgentStep) -> None:
        super().__init__(step.value)
        self.step = step


class OneStep:
    """Lets one piece of work take one step of one kind; without a kind, all of them."""

    def __init__(self, kind: AgentStep | None = None) -> None:
        self._kind = kind
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


def next_of_all(paused: Iterable[AgentStep]) -> AgentStep:
    """Return the step that an invocation takes next for agents side by side.

    Questions to models come after lookups and tries, so that they are asked at the same time.
    Landing comes last, in the order of the tasks.
    """
    waiting = set(paused)
    return next(step for step in AgentStep if step in waiting)
