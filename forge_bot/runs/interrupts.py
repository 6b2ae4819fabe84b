"""Ctrl-C as an exception: the first one ends what is under way, and others do not disturb that end.

KeyboardInterrupt is raised wherever the program is. Inside a library that calls Python, such as
pydantic's, it may come out as another exception, or not at all.
"""

import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 5.0
"""Seconds that work may take to stop before another Ctrl-C interrupts it."""

_AT_ONCE = 0.5
"""Seconds in which a second Ctrl-C means the same as the first, also where that is no longer seen
to be under way: its exception may have been caught just now.
"""

_REMEMBERED = 60.0
"""Seconds after which a Ctrl-C has no effect any more on work that goes on."""

_heard: list[float] = []
"""When a Ctrl-C counted last (monotonic seconds)."""


def take_ctrl_c() -> None:
    """Let this module handle Ctrl-C, unless it is ignored or somebody else does."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, by_hand)


def by_hand(_number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, unless an earlier one is still ending what was under way."""
    now = time.monotonic()
    wait = PATIENCE if _is_ending(sys.exception()) else _AT_ONCE
    if _heard and now - _heard[-1] < wait:
        return
    hear(now)
    raise KeyboardInterrupt


def ignore_ctrl_c() -> None:
    """Let Ctrl-C change nothing any more where this module handles it: the command has ended, and
    all that is left is to exit.
    """
    if signal.getsignal(signal.SIGINT) is by_hand:
        signal.signal(signal.SIGINT, no_effect)


@contextmanager
def undisturbed() -> Generator[None]:
    """Block Ctrl-C while the user is told that a first one was received.

    Only the main thread can receive signals.
    """
    mine = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    taken = mine and before is not signal.SIG_IGN
    if taken:
        signal.signal(signal.SIGINT, no_effect)
    try:
        yield
    finally:
        if taken:
            signal.signal(signal.SIGINT, before)


def no_effect(_number: int, _frame: FrameType | None) -> None:
    """Handle Ctrl-C by nothing. Python complains of a signal that comes while SIG_IGN is set."""


def hear(now: float) -> None:
    """Let a Ctrl-C count from now on."""
    _heard[:] = [now]


def was_interrupted() -> bool:
    """Return whether a Ctrl-C came just now, whatever has become of its exception."""
    return bool(_heard) and time.monotonic() - _heard[-1] < _REMEMBERED


def _is_ending(error: BaseException | None) -> bool:
    """Return whether an exception is handled that began with KeyboardInterrupt."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None
