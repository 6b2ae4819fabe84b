"""The interface of a provider's batches, of one question each, answered within a day."""

from typing import Protocol, runtime_checkable

from pydantic import Field

from forge_bot.agent.models.base import ModelCall, ModelReply
from forge_bot.values import Frozen


class BatchQuestion(Frozen):
    """A question, and the id under which the provider lists its answer."""

    id: str
    call: ModelCall


class BatchTicket(Frozen):
    """A batch that a provider took in. Any process with a key of the same account can collect
    it.
    """

    id: str = Field(description="the provider's own id of the batch")
    handle: str = Field(description="what the library needs to ask for it, as JSON")


class Unanswered(Frozen):
    """A batch that ended without an answer to its question."""

    words: str
    paid: bool = Field(default=False, description="the provider may charge for it all the same")


class BatchRefused(Exception):
    """The provider offers no batches for this model."""


class BatchApi(Protocol):
    """The batches of one model of one provider."""

    async def submit(self, question: BatchQuestion) -> BatchTicket:
        """Hand in a question, without a second try.

        Raises BatchRefused, PossiblyCharged if the provider may have taken it in, and the errors of
        a model for a question that was certainly not taken in.
        """
        ...

    async def collect(
        self, ticket: BatchTicket, question: BatchQuestion
    ) -> ModelReply | Unanswered | None:
        """Return the answer; None while the batch is under way."""
        ...

    async def cancel(self, ticket: BatchTicket) -> None:
        """Ask the provider to cancel a batch; unstarted questions cost nothing."""
        ...


@runtime_checkable
class BatchingModel(Protocol):
    """A model that may be asked in batches."""

    @property
    def batches(self) -> BatchApi | None:
        """The batches of this model; None if its provider offers none."""
        ...
