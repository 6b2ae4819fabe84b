"""The seven ways in which an invocation ends."""

from enum import IntEnum


class Outcome(IntEnum):
    """The result of an invocation; the value is the exit code."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    BUDGET = 4
    REFUSED = 5
    ABANDONED = 6
