"""A small process that starts a program with its own standard streams and ends the program's whole
process group when the process that started it ends, however that ends.

It runs as a separate script in a session of its own (`python -I -S group_keeper.py PID WORDS`), and
uses only the standard library. PID is the process that starts it.
"""

import ctypes
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_SET_DEATH_SIGNAL = 1


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    os.killpg(os.getpgrp(), signal.SIGKILL)
    raise SystemExit


def main() -> int:
    """Start the words of the command line; return the program's exit code."""
    above = int(sys.argv[1])
    signal.signal(signal.SIGTERM, _end)
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != above:
        return 1
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - no shell is wanted
        finally:
            os._exit(127)
    # What the program reads and writes is its own: an end of it has to reach the other side.
    for stream in (0, 1):
        os.close(stream)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF


if __name__ == "__main__":
    sys.exit(main())
