"""How an event ended at the gate."""

from dataclasses import dataclass
from enum import StrEnum

from forge_bot.gate.people import Account


class Result(StrEnum):
    """How it ended at the gate. Only after the first one the later steps run."""

    PROCEED = "proceed"
    NOTHING = "nothing"
    REFUSED = "refused"
    UNVERIFIED = "unverified"
    MISTYPED = "mistyped"
    HELPED = "helped"


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """How it ended, why, and what the later steps have to know."""

    result: Result
    reason: str
    issue: int | None = None
    by: Account | None = None
    tracking: int | None = None
