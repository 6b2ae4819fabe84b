"""This process: its user, clock, signals, and its name for others. The time is read here alone."""

import getpass
import os
import platform
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType


def now() -> datetime:
    """The present time in UTC."""
    # The one place that asks; everything below gets its time with the reports.
    return datetime.now(UTC)  # noqa: TID251


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
