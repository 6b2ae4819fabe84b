"""Signals of this process, and its name for others."""

import asyncio
import os
import platform
import signal
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import Any, TypeVar

from forge_bot.runs.interrupts import PATIENCE, by_hand, hear
from forge_bot.runs.wall_clock import now

Done = TypeVar("Done")

_Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


def this_process() -> str:
    """Return a description of this process, for others that want its run."""
    return (
        f"process {os.getpid()} on {platform.node() or 'this machine'}, since"
        f" {now():%Y-%m-%d %H:%M} UTC"
    )


@contextmanager
def stop_on_signals() -> Generator[None]:
    """Make SIGTERM act as Ctrl-C: commands under way are ended, the lock is released, and the way
    to continue is printed.

    Only the main thread can receive signals. In another thread, or if the host has a handler of its
    own, nothing changes.
    """
    mine = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if mine:
        signal.signal(signal.SIGTERM, _like_by_hand)
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def until_stopped(work: Coroutine[Any, Any, Done]) -> Done:
    """Return the result of the work, on an event loop of its own.

    The first signal cancels the work; KeyboardInterrupt is raised after it has ended. Later signals
    during that end are not raised at once: inside the loop's own code they could cost a task its
    turn, and the end would never come. After a few seconds a signal is raised all the same.
    """
    ending = _Ending()
    with ending.instead_of_raising(), asyncio.Runner() as runner:
        try:
            result = runner.run(ending.watched(work, runner.get_loop()))
        except asyncio.CancelledError:
            if ending.since is None:
                raise
            raise KeyboardInterrupt from None
    if ending.since is not None:
        raise KeyboardInterrupt
    return result


class _Ending:
    """The request to stop work, and its time (monotonic seconds)."""

    def __init__(self) -> None:
        self.since: float | None = None
        self._stop: Callable[[], object] = _nothing

    async def watched(
        self, work: Coroutine[Any, Any, Done], loop: asyncio.AbstractEventLoop
    ) -> Done:
        task = asyncio.current_task()
        if task is not None:
            self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
        if self.since is not None:
            self._stop()
        try:
            return await work
        except KeyboardInterrupt:
            # It was raised inside of `interruptible`, where a person was asked.
            self.since = time.monotonic()
            raise asyncio.CancelledError from None

    @contextmanager
    def instead_of_raising(self) -> Generator[None]:
        """Heed the signals that would raise KeyboardInterrupt."""
        main = threading.current_thread() is threading.main_thread()
        found = [(number, signal.getsignal(number)) for number in _STOPPING if main]
        taken = [(number, handler) for number, handler in found if handler in _RAISING]
        for number, _ in taken:
            signal.signal(number, self._heed)
        try:
            yield
        finally:
            for number, handler in taken:
                signal.signal(number, handler)

    def _heed(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.since is not None and now - self.since > PATIENCE:
            raise KeyboardInterrupt
        if self.since is None:
            self.since = now
            # First, so that no work sees what is ended as a failure.
            self._stop()
            hear(now)


@asynccontextmanager
async def interruptible() -> AsyncGenerator[None]:
    """Let Ctrl-C and SIGTERM end a call at once that waits for a person, inside of work that
    `until_stopped` runs.

    A signal that came before cancels the work first.
    """
    main = threading.current_thread() is threading.main_thread()
    taken: list[tuple[signal.Signals, _Handler]] = []
    for number, handler in _STOPPING.items() if main else ():
        before = signal.getsignal(number)
        if isinstance(getattr(before, "__self__", None), _Ending):
            taken.append((number, signal.signal(number, handler)))
    try:
        await asyncio.sleep(0)
        yield
    finally:
        for number, before in taken:
            signal.signal(number, before)


def _nothing() -> None:
    """Before the work has begun there is nothing to stop."""


def _like_by_hand(_number: int, _frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # What a script starts in the background takes no Ctrl-C (POSIX, Shell Command Language
        # 2.11); SIGTERM was meant all the same.
        signal.signal(signal.SIGINT, by_hand)
    signal.raise_signal(signal.SIGINT)


_STOPPING = {signal.SIGINT: by_hand, signal.SIGTERM: _like_by_hand}
"""The signals that raise KeyboardInterrupt, and the handlers that raise it."""

_RAISING = {signal.default_int_handler, *_STOPPING.values()}
"""The same handlers, with the one that Python begins with."""
