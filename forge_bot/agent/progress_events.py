"""What a face may show while a model works."""

from decimal import Decimal

from forge_bot.values import Frozen, Usage


class Asking(Frozen):
    """A question goes out. `reserved` is None when nobody knows the price of this model."""

    turn: int
    model: str
    reserved: Decimal | None


class Answered(Frozen):
    """A reply came in; `again` if it was found in the journal and cost nothing now."""

    usage: Usage
    cost: Decimal | None
    again: bool = False


class Looking(Frozen):
    """Something is looked up for the model."""

    capability: str
    params: str


class Complaint(Frozen):
    """An answer goes back to the model."""

    text: str


Notice = Asking | Answered | Looking | Complaint
