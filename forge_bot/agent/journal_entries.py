"""The entries of the journal, one JSON object a line."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from forge_bot.agent.capabilities import CapabilityResult
from forge_bot.agent.models.base import BatchTicket, ChatMessage, FinishReason
from forge_bot.agent.tries import TryOutcome
from forge_bot.values import Frozen, Usage


class Started(Frozen):
    """A question is sent, or handed in with a batch: then `question` is its id there, and nothing
    is reserved in the journal. `messages` are those that no earlier line of this conversation has.
    """

    entry: Literal["started"] = "started"
    key: str
    model: str
    reserved: Decimal = Decimal(0)
    question: str = ""
    at: AwareDatetime | None = None
    messages: tuple[ChatMessage, ...] = ()


class Ended(Frozen):
    """The reply, as the model wrote it."""

    entry: Literal["finished"] = "finished"
    key: str
    text: str
    finish: FinishReason
    usage: Usage


class Failed(Frozen):
    """The call failed, or its question was taken out of a batch. `paid` if the provider may have
    worked for it nevertheless.
    """

    entry: Literal["failed"] = "failed"
    key: str
    question: str = ""
    why: str
    paid: bool = False


class Observed(Frozen):
    """A lookup ended. `key` combines those of the conversation and the request."""

    entry: Literal["observed"] = "observed"
    key: str
    observation: CapabilityResult


class Submitted(Frozen):
    """The provider took a question in."""

    entry: Literal["submitted"] = "submitted"
    key: str
    question: str
    ticket: BatchTicket


class Parked(Frozen):
    """A question that waits for a batch; without a ticket it is unknown whether it was taken in."""

    key: str
    model: str
    question: str
    at: AwareDatetime
    ticket: BatchTicket | None = None


class Tried(Frozen):
    """The project's commands ran on an answer's edits."""

    entry: Literal["tried"] = "tried"
    key: str
    outcome: TryOutcome


AnyEntry = Started | Ended | Failed | Submitted | Observed | Tried


Entry = Annotated[AnyEntry, Field(discriminator="entry")]
