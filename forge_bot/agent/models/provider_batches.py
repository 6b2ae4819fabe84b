"""The batches of a provider, through pydantic-ai: Anthropic's, and OpenAI's for its Responses."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forge_bot.agent.models.base import (
    BatchTicket,
    ModelCall,
    ModelReply,
    PossiblyCharged,
    Unanswered,
)
from forge_bot.agent.models.known_providers import error_details, to_forge_error, violation
from forge_bot.errors import ModelUnavailable

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as LibraryModel
    from pydantic_ai.models.batch import Batch, BatchRequest, BatchResult

_SECONDS = 600.0
"""The time limit of the providers' clients for a request about a batch."""

_UNKNOWN = frozenset({404, 405, 501})
"""What a server answers that has no batches, or not this one."""


@dataclass(frozen=True)
class ProviderBatches:
    """The batches of one model. A question has an id, by which the provider lists its answer."""

    _name: str
    _model: "LibraryModel"
    _request_of: "Callable[[str, ModelCall], BatchRequest]"
    _reply_of: "Callable[[str, ModelCall, ModelResponse], ModelReply]"

    async def submit(self, question: str, call: ModelCall) -> BatchTicket:
        async with self._open_model() as model:
            encoded = await model.batch_encode(self._request_of(question, call))
            return _ticket(await model.batch_create([encoded]))

    async def collect(
        self, ticket: BatchTicket, question: str, call: ModelCall
    ) -> ModelReply | Unanswered | None:
        async with self._open_model() as model:
            batch = await model.batch_status(_batch(ticket))
            if batch.status != "ended":
                return None
            results = {result.custom_id: result for result in await model.batch_results(batch)}
            return self._decode_result(model, results.get(question), question, call)

    async def cancel(self, ticket: BatchTicket) -> None:
        """Ask the provider to end the batch."""
        async with self._open_model() as model:
            await model.batch_cancel(_batch(ticket))

    def _decode_result(
        self, model: "LibraryModel", result: "BatchResult | None", question: str, call: ModelCall
    ) -> ModelReply | Unanswered:
        from pydantic_ai.exceptions import AgentRunError

        if result is None:
            return Unanswered(words="the batch came back without this answer")
        if result.status in _ENDED:
            return Unanswered(words=f"it {_ENDED[result.status]}")
        try:
            response = model.batch_decode(result, self._request_of(question, call))
            return self._reply_of(self._name, call, response)
        except (PossiblyCharged, TypeError, AttributeError, LookupError, ValueError):
            return Unanswered(words="it is not what the API promises", paid=True)
        except AgentRunError as error:
            return Unanswered(words=to_forge_error(self._name, error, _SECONDS, 1).message)

    @asynccontextmanager
    async def _open_model(self) -> "AsyncGenerator[LibraryModel]":
        """Open the model's client, and raise the errors of the library as ours."""
        from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UserError

        try:
            async with self._model as model:
                yield model
        except (AgentRunError, UserError) as error:
            if isinstance(error, ModelHTTPError) and error.status_code in _UNKNOWN:
                raise ModelUnavailable(
                    f"The provider of {self._name} has no batches at its address, or does not know"
                    " this one for this key: begin a run without batches, or use a key of the same"
                    " account and workspace that it was handed in with.",
                    details=error_details(error),
                ) from error
            raise to_forge_error(self._name, error, _SECONDS, 1) from error
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            # The library expects the documented fields, and fails without them.
            raise ModelUnavailable(violation(self._name), details=error_details(error)) from error


_ENDED = {"expired": "expired before it was begun", "canceled": "was cancelled"}


def _ticket(batch: "Batch") -> BatchTicket:
    """Return a batch as data. A hash of the key is left out: the ticket may be public."""
    from pydantic import TypeAdapter
    from pydantic_ai.models.batch import Batch

    bare = replace(batch, group=json.dumps({**json.loads(batch.group), "credential": ""}))
    handle = TypeAdapter(Batch).dump_json(bare).decode()
    return BatchTicket(id=batch.id, handle=handle)


def _batch(ticket: BatchTicket) -> "Batch":
    from pydantic import TypeAdapter
    from pydantic_ai.models.batch import Batch

    return TypeAdapter(Batch).validate_json(ticket.handle)
