"""The seven ways in which an invocation ends."""

from enum import IntEnum

from forge_bot.engine import Action, Checkpoint, Done, HumanGate
from forge_bot.engine.state import Reason


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
