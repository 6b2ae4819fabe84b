"""A small process that starts a program with its own standard streams and ends all processes of the
program when that ends, or when the process that started it ends, however that happens.

It runs as a separate script (`python -I -S keeper_process.py PID WORDS`), and uses only the
standard library. PID is the process that starts it. As "child subreaper" it gets every process
whose own parent has ended.
"""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_FOR_ALL = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_BY_SIGNAL = 128


def words() -> tuple[str, ...]:
    """Return the words before those of a program that is to be started so."""
    return (sys.executable, "-I", "-S", __file__, str(os.getpid()))


def descendants(above: int) -> list[int]:
    """Return the process ids of all children of `above`, their children, and so on.

    Processes that start or end meanwhile may be missed.
    """
    below: list[int] = []
    parents = [above]
    while parents:
        with suppress(OSError):
            for task in Path(f"/proc/{parents.pop()}/task").iterdir():
                children = [int(word) for word in (task / "children").read_bytes().split()]
                parents += children
                below += children
    return below


def _end_all(child: int) -> None:
    """End all processes below this one.

    First all are stopped, so that none starts children faster than they are found.
    """
    with suppress(OSError):  # root only: its processes are not counted
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    while _reap():
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in descendants(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        if sys.platform != "linux":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)
        time.sleep(0.002)


def _reap() -> bool:
    """Reap every dead child; return whether others are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def main() -> int:
    """Start the words of the command line; return the program's exit code."""
    above, child = int(sys.argv[1]), 0

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        _end_all(child)
        raise SystemExit(_BY_SIGNAL + number)

    for number in _FOR_ALL:
        signal.signal(number, end)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != above:
        return 1
    child = os.fork()
    if child == 0:
        # Python ignores the last two, and exec keeps ignored signals ignored.
        for number in (*_FOR_ALL, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - no shell is wanted
        finally:
            os._exit(127)
    # What the program reads and writes is its own: an end of it has to reach the other side.
    for stream in (0, 1):
        os.close(stream)
    pid, status = os.waitpid(-1, 0)
    # A child that has asked to be traced is reported when it stops, too.
    while pid != child or os.WIFSTOPPED(status):
        pid, status = os.waitpid(-1, 0)
    _end_all(child)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else _BY_SIGNAL - code


if __name__ == "__main__":
    sys.exit(main())
