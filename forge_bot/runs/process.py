"""This process: how it names itself to others, and how it stops when it is asked to."""

import os
import platform
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from forge_bot.runs.clock import now


def this_process() -> str:
    """Who holds a run, for somebody else who wants it."""
    return f"process {os.getpid()} on {platform.node() or 'this machine'}, since {now():%Y-%m-%d %H:%M} UTC"


@contextmanager
def stopped_like_by_hand() -> Generator[None]:
    """Make SIGTERM do what Ctrl-C does: commands under way are ended, the lock is let go, the way to go on is said.

    Signals can be taken in the main thread only; anywhere else, and where the host has a handler of its own, nothing changes.
    """
    mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if mine:
        signal.signal(signal.SIGTERM, _like_by_hand)
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def undisturbed() -> Generator[None]:
    """Let no Ctrl-C in while somebody is told that it was heard. Signals can be taken in the main thread only."""
    mine = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if mine else None
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGINT, before)


def _like_by_hand(_number: int, _frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # What a script starts in the background takes no Ctrl-C (POSIX, Shell Command Language 2.11); SIGTERM was meant all the same.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)
