"""`python -m forge_bot.temporal.thread_job`: one visit to a thread, in a process of its own.

It is the work of a job of the Action. It ends with the worker that started it.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

_SET_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def main() -> int:
    """Do the work that the environment names; the exit code."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    if os.getppid() == 1:
        return 1
    from forge_bot.bot.job import work

    return work()


if __name__ == "__main__":
    sys.exit(main())
