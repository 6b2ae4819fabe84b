"""The end of an invocation: to the phase that a person names, for the time that `run_seconds`
allows, and the outcome in which it ends.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from enum import IntEnum

from forge_bot.engine import (
    Action,
    Checkpoint,
    Done,
    Exec,
    Host,
    HumanGate,
    PersonAction,
    Pipeline,
    Report,
    State,
    WorkAction,
    no_reports,
)
from forge_bot.engine.phases import AnsweringPhase, DecisionPhase, SetupPhase
from forge_bot.engine.state import Reason, TaskStatus
from forge_bot.errors import BadOption, TimeUsedUp
from forge_bot.interaction.number_format import duration
from forge_bot.values import PhaseId


def phase_named(pipeline: Pipeline, wanted: str) -> PhaseId:
    """Return the phase that a person means: by id, label, or name of its document.

    Upper and lower case, spaces, hyphens and underscores are equal. Raises BadOption with all names
    if none fits.
    """
    phases = [phase for phase in pipeline.phases if not isinstance(phase, DecisionPhase)]
    for phase in phases:
        writes = phase.writes if isinstance(phase, SetupPhase | AnsweringPhase) else ""
        names = (phase.id, phase.label, writes, writes.removesuffix(".md"))
        if wanted.strip() and _plain(wanted) in map(_plain, names):
            return phase.id
    raise BadOption(
        f"No phase is called {wanted!r}.",
        hint="Name one of those above by its id or its label.",
        details=tuple(f"{phase.id:<20} {phase.label}" for phase in phases),
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip()).casefold()


StopLine = Callable[[State, Action], bool]
"""Return whether an action lies behind the phase an invocation was to stop after."""

_UNIMPLEMENTED = {TaskStatus.PENDING, TaskStatus.CLEARED}


def stop_after(pipeline: Pipeline, last: PhaseId | None) -> StopLine:
    """Return the line after the phase `last`; without one, nothing is behind the line.

    Behind the line are the later phases of the pipeline, and the reviews and gates of `last`. A
    phase that a review sent back is before the line. Tasks are implemented in waves, and later
    waves build on reviewed ones. So the reviews before the last wave belong to the implementation.
    """

    def lies_behind(state: State, action: Action) -> bool:
        if last is None or isinstance(action, Done):
            return False
        if pipeline.position(action.phase) <= pipeline.position(last):
            return False
        unfinished = any(task.status in _UNIMPLEMENTED for task in state.tasks)
        return not (pipeline.implements(last) and unfinished)

    return lies_behind


class StopAtLine:
    """A host that leaves everything behind the line undone and unasked."""

    def __init__(self, host: Host, line: StopLine) -> None:
        self._host = host
        self._line = line
        self.record = host.record

    def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
        """Let the host do the work that lies before the line."""
        behind = self._line(state, action)
        return no_reports() if behind else self._host.perform(state, action)

    def ask(self, state: State, action: PersonAction) -> AsyncGenerator[Report]:
        """Let the host ask if the question is before the line."""
        behind = self._line(state, action)
        return no_reports() if behind else self._host.ask(state, action)

    def publish(self, state: State, action: Exec) -> AsyncGenerator[Report]:
        """Let the host publish if the action is before the line."""
        behind = self._line(state, action)
        return no_reports() if behind else self._host.publish(state, action)


class Outcome(IntEnum):
    """The result of an invocation; the value is the exit code."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    BUDGET = 4
    REFUSED = 5
    ABANDONED = 6


def outcome_of(action: Action) -> Outcome:
    """Return the outcome of an invocation that leaves this action outstanding."""
    match action:
        case Done(outcome="abandoned"):
            return Outcome.ABANDONED
        case Done():
            return Outcome.DONE
        case Checkpoint(reason=Reason.BUDGET):
            return Outcome.BUDGET
        case Checkpoint() | HumanGate():
            return Outcome.WAITING
        case _:
            return Outcome.FAILED


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncGenerator[asyncio.Timeout]:
    """Limit the work of a block. Raises TimeUsedUp when its time is over; the work has been
    cancelled then, and what was reported is recorded.
    """
    timeout = asyncio.timeout(seconds)
    try:
        async with timeout:
            yield timeout
    except TimeoutError:
        if seconds is None or not timeout.expired():
            raise
        allowed = duration(round(seconds * 1000))
        raise TimeUsedUp(
            f"The run has been worked on for {allowed}, which is what run_seconds allows."
        ) from None


@contextmanager
def paused(timeout: asyncio.Timeout) -> Generator[None]:
    """Stop counting while a person is asked."""
    loop = asyncio.get_running_loop()
    end, began = timeout.when(), loop.time()
    timeout.reschedule(None)
    try:
        yield
    finally:
        if end is not None:
            timeout.reschedule(end + loop.time() - began)
