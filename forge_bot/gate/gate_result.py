"""The result of an event at the gate."""

from dataclasses import dataclass
from enum import StrEnum

from forge_bot.gate.people import Account


class Result(StrEnum):
    """The kinds of result. Only after the first one the later steps run."""

    PROCEED = "proceed"
    NOTHING = "nothing"
    REFUSED = "refused"
    UNVERIFIED = "unverified"
    MISTYPED = "mistyped"
    HELPED = "helped"


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The result, its reason, and the data for the later steps."""

    result: Result
    reason: str
    issue: int | None = None
    by: Account | None = None
    tracking: int | None = None
