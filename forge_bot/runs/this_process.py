"""This process and its invocation: its user, clock, signals, and its name for others; the phase it
stops after, the time that `run_seconds` allows, and the outcome. The time is read here alone.
"""

import asyncio
import getpass
import os
import platform
import re
import signal
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from enum import IntEnum
from types import FrameType

from forge_bot.engine import Action, Checkpoint, Done, HumanGate, Pipeline, State
from forge_bot.engine.phases import AnsweringPhase, DecisionPhase, SetupPhase
from forge_bot.engine.state import Reason, TaskStatus
from forge_bot.errors import BadOption, TimeUsedUp
from forge_bot.interaction.number_format import duration
from forge_bot.values import PhaseId


def now() -> datetime:
    """The present time in UTC."""
    # The one place that asks; everything below gets its time with the reports.
    return datetime.now(UTC)  # noqa: TID251


def this_process() -> str:
    """Return a description of this process, for others that want its run."""
    machine = platform.node() or "this machine"
    return f"process {os.getpid()} on {machine}, since {now():%Y-%m-%d %H:%M} UTC"


@contextmanager
def stop_on_signals() -> Generator[None]:
    """Make SIGTERM act as Ctrl-C: commands under way are ended, the lock is released, and the way
    to continue is printed.

    Only the main thread can receive signals. In another thread, or if the host has a handler of its
    own, nothing changes.
    """
    mine = _is_main() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if mine:
        signal.signal(signal.SIGTERM, _like_ctrl_c)
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def interruptible() -> Generator[None]:
    """Let Ctrl-C end a blocking call at once inside an event loop, where `asyncio.Runner` would
    only cancel the task that calls.
    """
    before = signal.getsignal(signal.SIGINT)
    mine = _is_main() and before is not signal.SIG_IGN
    if mine:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGINT, before)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _like_ctrl_c(_number: int, _frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # What a script starts in the background takes no Ctrl-C (POSIX, Shell Command Language
        # 2.11); SIGTERM was meant all the same.
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def local_user() -> str:
    """Return the name of the user at the terminal, as the system knows it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"


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
