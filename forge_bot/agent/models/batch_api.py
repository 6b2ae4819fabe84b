"""The interface of a provider's batches: questions handed in together, answered within a day."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from pydantic import Field

from forge_bot.agent.models.base import ModelCall, ModelReply
from forge_bot.values import Frozen


class BatchQuestion(Frozen):
    """A question, and the id under which the provider lists its answer."""

    id: str
    call: ModelCall


class EncodedQuestion(Frozen):
    """A question in the words of its provider. Those of one group can be handed in together."""

    id: str
    group: str = Field(description="endpoint, model, and a hash of the key")
    body: str = Field(description="the provider's request, as JSON")


class BatchTicket(Frozen):
    """A batch that a provider took in. Any process with a key of the same account can collect
    it.
    """

    id: str = Field(description="the provider's own id of the batch")
    size: int
    handle: str = Field(description="what the library needs to ask for it, as JSON")


class Unanswered(Frozen):
    """A question of a batch that ended without an answer to it."""

    words: str
    again: bool = Field(description="the same question can be handed in once more")
    paid: bool = Field(default=False, description="the provider may charge for it all the same")


class BatchUnclear(Exception):
    """The provider does not tell yet whether it took in a question."""


class BatchRefused(Exception):
    """The provider offers no batches for this model."""


class BatchApi(Protocol):
    """The batches of one model of one provider."""

    @property
    def most(self) -> int:
        """The most questions of one batch."""
        ...

    async def encode(self, questions: Sequence[BatchQuestion]) -> Sequence[EncodedQuestion]:
        """Return the questions as they are handed in."""
        ...

    async def submit(self, questions: Sequence[EncodedQuestion]) -> BatchTicket:
        """Hand in one batch of one group, without a second try.

        Raises BatchUnclear if the provider may have accepted it, BatchRefused, and the errors of a
        model for a batch that was certainly not accepted.
        """
        ...

    async def find(
        self, question: BatchQuestion, since: datetime, until: datetime
    ) -> BatchTicket | None:
        """Return the batch with that question, handed in between these times; None if there is
        none. Raises BatchUnclear, and BatchRefused if the provider offers no batches.
        """
        ...

    async def collect(
        self, ticket: BatchTicket, questions: Sequence[BatchQuestion]
    ) -> Mapping[str, ModelReply | Unanswered] | None:
        """Return the answers by the ids of the questions; None while the batch is under way."""
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
