"""The events that a face may show while a model works."""

from decimal import Decimal

from forge_bot.values import Frozen, Usage


class ModelAsked(Frozen):
    """A question is sent. `reserved` is None when the price of this model is unknown."""

    turn: int
    model: str
    reserved: Decimal | None


class ModelAnswered(Frozen):
    """A reply came in; `again` if it was found in the journal and cost nothing now."""

    usage: Usage
    cost: Decimal | None
    again: bool = False


class RequestStarted(Frozen):
    """A lookup for the model starts."""

    capability: str
    params: str


class AnswerRejected(Frozen):
    """An answer is rejected and returned to the model."""

    text: str


class CallLost(Frozen):
    """A question was sent and is not answered any more; it may be billed."""

    usage: Usage


Notice = ModelAsked | ModelAnswered | RequestStarted | AnswerRejected | CallLost
