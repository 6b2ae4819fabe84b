"""Ctrl-C as an exception: the first one ends what is under way, and others do not disturb that end.

KeyboardInterrupt is raised wherever the program is. Inside a library that calls Python, such as
pydantic's, it may come out as another exception, or not at all.
"""

import signal
import sys
import time
from types import FrameType

PATIENCE = 5.0
"""Seconds that work may take to stop before another Ctrl-C interrupts it."""

_AT_ONCE = 0.5
"""Seconds in which a second Ctrl-C means the same as the first, also where that is no longer seen
to be under way: its exception may have been caught just now.
"""

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


def hear(now: float) -> None:
    """Note that a Ctrl-C counts from now on."""
    _heard[:] = [now]


def was_interrupted() -> bool:
    """Return whether a Ctrl-C came just now, whatever has become of its exception."""
    return bool(_heard) and time.monotonic() - _heard[-1] < PATIENCE


def _is_ending(error: BaseException | None) -> bool:
    """Return whether an exception is handled that began with KeyboardInterrupt."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None
