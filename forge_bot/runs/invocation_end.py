"""The end of an invocation: to the phase that a person names, for the time that `run_seconds`
allows, and the outcome in which it ends.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from enum import IntEnum

from forge_bot.engine import (
    Action,
    Checkpoint,
    Done,
    HumanGate,
    Pipeline,
    State,
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


def lies_behind(pipeline: Pipeline, last: PhaseId | None, state: State, action: Action) -> bool:
    """Return whether an action comes after the phase that an invocation stops after; nothing does
    without one.

    Later phases of the pipeline do, and the reviews and gates of `last`; a phase that a review sent
    back does not. Later waves of tasks build on reviewed ones, so the reviews before the last wave
    belong to the implementation.
    """
    if last is None or isinstance(action, Done):
        return False
    if pipeline.position(action.phase) <= pipeline.position(last):
        return False
    unfinished = {TaskStatus.PENDING, TaskStatus.CLEARED} & {task.status for task in state.tasks}
    return not (pipeline.implements(last) and unfinished)


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
