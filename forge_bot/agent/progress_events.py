"""What a face may show while a model works."""

from decimal import Decimal

from forge_bot.values import Frozen, Usage


class ModelAsked(Frozen):
    """A question goes out. `reserved` is None when nobody knows the price of this model."""

    turn: int
    model: str
    reserved: Decimal | None


class ModelAnswered(Frozen):
    """A reply came in; `again` if it was found in the journal and cost nothing now."""

    usage: Usage
    cost: Decimal | None
    again: bool = False


class RequestStarted(Frozen):
    """Something is looked up for the model."""

    capability: str
    params: str


class AnswerRejected(Frozen):
    """An answer goes back to the model."""

    text: str


Notice = ModelAsked | ModelAnswered | RequestStarted | AnswerRejected
