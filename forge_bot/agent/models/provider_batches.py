"""The batches of a provider, through pydantic-ai: Anthropic's, and OpenAI's for its Responses."""

import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from forge_bot.agent.models.base import ModelCall, ModelReply, PossiblyCharged
from forge_bot.agent.models.batch_api import (
    BatchQuestion,
    BatchRefused,
    BatchTicket,
    BatchUnclear,
    EncodedQuestion,
    Unanswered,
)
from forge_bot.agent.models.provider_errors import error_details, to_forge_error
from forge_bot.errors import ModelUnavailable
from forge_bot.sentences import say

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as LibraryModel
    from pydantic_ai.models.batch import Batch, BatchRequest, BatchResult

    Listing = Callable[[Any, "_Wanted"], AsyncGenerator["_Listed"]]
    """Yields the batches of an account from a certain time, with their contents."""

_Done = TypeVar("_Done")

_SECONDS = 600.0
"""The time limit of the providers' clients for a request about a batch."""

_NO_ENDPOINT = frozenset({404, 405, 501})
_THEIR_FAULT = 500
_PAGE = 100
_UNKNOWN = 404
_LIKELY_AGAIN = frozenset({408, 409, 429})


class _Wanted(NamedTuple):
    """The question that is looked for, and when it was handed in."""

    id: str
    since: datetime
    until: datetime


class _Listed(NamedTuple):
    """A batch of the account. `holds` is None while the provider does not say."""

    id: str
    size: int
    created_at: datetime
    details: dict[str, Any] | None
    holds: bool | None


def listing_of(model: "LibraryModel") -> "Listing | None":
    """Return how the provider of this model lists its batches; None if we do not know."""
    if _is_one(model, "anthropic", "AnthropicModel"):
        return _listed_by_anthropic
    return _listed_by_openai if _is_one(model, "openai", "OpenAIResponsesModel") else None


def _is_one(model: "LibraryModel", provider: str, name: str) -> bool:
    """Return whether a model is of a class, without reading the library of another provider: that
    takes seconds, and no model is of a class that was never read.
    """
    known = sys.modules.get(f"pydantic_ai.models.{provider}")
    return known is not None and isinstance(model, getattr(known, name))


async def _listed_by_anthropic(client: Any, wanted: _Wanted) -> AsyncGenerator[_Listed]:
    """Yield the batches, newest first. What one holds is known when it has ended."""
    batches = client.beta.messages.batches
    async for each in batches.list(limit=_PAGE):
        if each.created_at < wanted.since:
            return
        if each.created_at > wanted.until:
            continue
        holds = None
        if each.processing_status == "ended":
            ids = {item.custom_id async for item in await batches.results(each.id)}
            holds = wanted.id in ids
        ran = each.request_counts
        size = ran.processing + ran.succeeded + ran.errored + ran.canceled + ran.expired
        yield _Listed(each.id, size, each.created_at, None, holds)


async def _listed_by_openai(client: Any, wanted: _Wanted) -> AsyncGenerator[_Listed]:
    """Yield the batches, newest first. What one holds stands in the file that was handed in."""
    async for each in client.batches.list(limit=_PAGE):
        created = datetime.fromtimestamp(each.created_at, tz=UTC)
        if created < wanted.since:
            return
        if created > wanted.until:
            continue
        lines = (await client.files.content(each.input_file_id)).text.splitlines()
        ids = {json.loads(line).get("custom_id") for line in lines if line.strip()}
        details = {"status": each.status, "input_file_id": each.input_file_id}
        yield _Listed(each.id, len(ids), created, details, wanted.id in ids)


class ProviderBatches:
    """The batches of one model."""

    def __init__(
        self,
        name: str,
        model: "LibraryModel",
        request_of: "Callable[[BatchQuestion], BatchRequest]",
        reply_of: "Callable[[str, ModelCall, ModelResponse], ModelReply]",
    ) -> None:
        self._name = name
        self._model = model
        self._request_of = request_of
        self._reply_of = reply_of

    @property
    def most(self) -> int:
        """The most questions of one batch."""
        return self._model.batch_max_requests or 1

    async def encode(self, questions: Sequence[BatchQuestion]) -> Sequence[EncodedQuestion]:
        """Return the questions as they are handed in, by the settings of this model."""
        async with self._opened() as model:
            found = [await model.batch_encode(self._request_of(each)) for each in questions]
        return [EncodedQuestion(id=x.custom_id, group=x.group, body=x.body) for x in found]

    async def submit(self, questions: Sequence[EncodedQuestion]) -> BatchTicket:
        """Hand in one batch, once."""
        from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
        from pydantic_ai.models.batch import EncodedBatchRequest

        encoded = [
            EncodedBatchRequest(custom_id=each.id, group=each.group, body=each.body)
            for each in questions
        ]
        async with self._opened() as model:
            try:
                batch = await model.batch_create(encoded)
            except ModelHTTPError as error:
                if error.status_code in _NO_ENDPOINT:
                    raise BatchRefused(self._name) from error
                if error.status_code >= _THEIR_FAULT:
                    raise BatchUnclear(str(error)) from error
                raise
            except ModelConnectionError as error:
                if error.phase in {"pool", "connect"}:
                    raise
                raise BatchUnclear(str(error)) from error
            except (TypeError, AttributeError, LookupError, ValueError) as error:
                raise BatchUnclear(str(error)) from error
        return _ticket(batch)

    async def find(
        self, question: BatchQuestion, since: datetime, until: datetime
    ) -> BatchTicket | None:
        """Look through the batches of the account for one with this question."""
        from pydantic_ai.models.batch import Batch

        listing = listing_of(self._model)
        if listing is None:
            return None
        unclear = False
        async with self._opened() as model:
            group = (await model.batch_encode(self._request_of(question))).group
            # The class of each model of these two providers has the client of its library.
            client: Any = getattr(model, "client")  # noqa: B009 - no common class declares it
            async for each in self._read(listing(client, _Wanted(question.id, since, until))):
                if each.holds:
                    return _ticket(
                        Batch(
                            id=each.id,
                            model_name=model.model_name,
                            provider_name=model.system,
                            group=group,
                            status="in_progress",
                            created_at=each.created_at,
                            request_count=each.size,
                            provider_details=each.details,
                        )
                    )
                unclear = unclear or each.holds is None
        if unclear:
            raise BatchUnclear("A batch of that time is under way, and it is not told what it has.")
        return None

    async def collect(
        self, ticket: BatchTicket, questions: Sequence[BatchQuestion]
    ) -> Mapping[str, ModelReply | Unanswered] | None:
        """Return the answers of a batch that has ended."""
        async with self._opened() as model:
            batch = await self._known(model.batch_status(_batch(ticket)), ticket)
            if batch.status != "ended":
                return None
            found = {each.custom_id: each for each in await model.batch_results(batch)}
            return {each.id: self._decoded(model, found.get(each.id), each) for each in questions}

    async def cancel(self, ticket: BatchTicket) -> None:
        """Ask the provider to end the batch."""
        async with self._opened() as model:
            await self._known(model.batch_cancel(_batch(ticket)), ticket)

    def _decoded(
        self, model: "LibraryModel", result: "BatchResult | None", question: BatchQuestion
    ) -> ModelReply | Unanswered:
        from pydantic_ai.exceptions import AgentRunError, ModelAPIError, ModelHTTPError

        if result is None:
            return Unanswered(words="the batch came back without this answer", again=True)
        if result.status in {"expired", "canceled"}:
            return Unanswered(words=f"it {_ENDED[result.status]}", again=True)
        try:
            response = model.batch_decode(result, self._request_of(question))
            return self._reply_of(self._name, question.call, response)
        except (PossiblyCharged, TypeError, AttributeError, LookupError, ValueError):
            return Unanswered(words="it is not what the API promises", again=False, paid=True)
        except ModelHTTPError as error:
            status = error.status_code
            passing = status >= _THEIR_FAULT or status in _LIKELY_AGAIN
            words = to_forge_error(self._name, error, _SECONDS, 1).message
            return Unanswered(words=words, again=passing)
        except AgentRunError as error:
            words = to_forge_error(self._name, error, _SECONDS, 1).message
            return Unanswered(words=words, again=isinstance(error, ModelAPIError))

    @asynccontextmanager
    async def _opened(self) -> "AsyncGenerator[LibraryModel]":
        """Open the model's client, and raise the errors of the library as ours."""
        from pydantic_ai.exceptions import AgentRunError, UserError

        try:
            async with self._model as model:
                yield model
        except (AgentRunError, UserError) as error:
            raise to_forge_error(self._name, error, _SECONDS, 1) from error
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            # The library expects the documented fields, and fails without them.
            raise ModelUnavailable(
                say("agent.provider_batches.batches_violate_the_api", name=self._name),
                details=error_details(error),
            ) from error

    async def _read(self, listed: "AsyncGenerator[_Listed]") -> "AsyncGenerator[_Listed]":
        """Yield what a provider lists. Its own library's errors become ours, BatchRefused where it
        knows no such list.
        """
        try:
            async for each in listed:
                yield each
        except (GeneratorExit, ModelUnavailable):
            raise
        # The two libraries have no common class of errors, and this is the only call that is
        # made past pydantic-ai.
        except Exception as error:
            if getattr(error, "status_code", None) in _NO_ENDPOINT:
                raise BatchRefused(self._name) from error
            raise ModelUnavailable(
                say("agent.provider_batches.batches_are_not_listed", name=self._name),
                details=error_details(error),
            ) from error

    async def _known(self, asked: "Awaitable[_Done]", ticket: BatchTicket) -> _Done:
        """Return the answer about a batch. Raises ModelUnavailable if the key does not see it."""
        from pydantic_ai.exceptions import ModelHTTPError

        try:
            return await asked
        except ModelHTTPError as error:
            if error.status_code != _UNKNOWN:
                raise
            raise ModelUnavailable(
                say("agent.provider_batches.batch_is_unknown", name=self._name, id=ticket.id),
                details=error_details(error),
            ) from error


_ENDED = {"expired": "expired before it was begun", "canceled": "was cancelled"}


def _ticket(batch: "Batch") -> BatchTicket:
    """Return a batch as data. A hash of the key is left out: the ticket may be public."""
    from pydantic import TypeAdapter
    from pydantic_ai.models.batch import Batch

    bare = replace(batch, group=json.dumps({**json.loads(batch.group), "credential": ""}))
    handle = TypeAdapter(Batch).dump_json(bare).decode()
    return BatchTicket(id=batch.id, size=batch.request_count, handle=handle)


def _batch(ticket: BatchTicket) -> "Batch":
    from pydantic import TypeAdapter
    from pydantic_ai.models.batch import Batch

    return TypeAdapter(Batch).validate_json(ticket.handle)
