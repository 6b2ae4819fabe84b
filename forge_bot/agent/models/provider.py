"""Any model behind a provider's API, through pydantic-ai.

Only this module, provider_batches and known_providers use that library. One question is one
request. Only this module retries, so retries never multiply.
"""

import asyncio
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import Field

from forge_bot.agent.model_answers import ANSWER_FORMS, answer_schema
from forge_bot.agent.models.base import (
    BYTES_PER_TOKEN,
    ChatMessage,
    FinishReason,
    MessageRole,
    ModelCall,
    ModelReply,
    PossiblyCharged,
    prompt_tokens,
)
from forge_bot.agent.models.known_providers import (
    error_details,
    key_refused,
    missing_key,
    needs_key,
    offers_batches,
    retry_delay,
    to_forge_error,
    violation,
    worst_case,
)
from forge_bot.errors import ForgeError, QuestionRejected, UnknownModel
from forge_bot.values import Frozen, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, UserContent
    from pydantic_ai.models import Model as LibraryModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.batch import BatchRequest
    from pydantic_ai.settings import ModelSettings

    from forge_bot.agent.models.provider_batches import ProviderBatches


class ProviderSettings(Frozen):
    """The settings for requests to a provider."""

    seconds: float = Field(
        default=600.0, gt=0, description="time for one attempt; large models think for minutes"
    )
    retries: int = Field(
        default=4,
        ge=0,
        description="further attempts after 408, 409, 429, 5xx and lost connections",
    )
    output: Literal["auto", "native", "prompted"] = Field(
        default="auto",
        description=(
            "native: the provider enforces the schema; prompted: the model is only told it; auto:"
            " what the model is known to do"
        ),
    )


_MARKED = frozenset({"anthropic", "bedrock"})
"""The providers that cache a prompt up to marked places only; others find the beginning alone."""

_KEY = re.compile(r"\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)\b")
"""The name of a variable with a key in a provider's words."""

_KEY_SECONDS = 10.0
"""The seconds to wait for the list of models that tells whether a key is accepted."""


def open_provider(spec: str, settings: ProviderSettings) -> "ProviderModel":
    """Return the model `provider:model`.

    Raises UnknownModel, or NoModelKey with the variable to set.
    """
    if (missing := missing_key(spec)) is not None:
        raise missing
    from pydantic_ai.models import infer_model

    # Impossible counts are estimated here; a warning on stderr would only confuse.
    warnings.filterwarnings("ignore", message="Failed to extract usage")
    if not all(spec.partition(":")[::2]):
        raise UnknownModel(f"{spec!r} does not name a provider and a model.")
    try:
        return ProviderModel(spec, infer_model(spec), settings)
    # Libraries for credentials have errors of their own here.
    except Exception as error:
        raise _explain_unopened(spec, error) from error


def _explain_unopened(spec: str, error: Exception) -> ForgeError:
    """Return the error for a model that the library does not open. Its words name the variable to
    set, or the package to install.
    """
    words = " ".join(str(error).split()).removesuffix(".")
    missing = next((name for name in _KEY.findall(words) if name not in os.environ), "")
    if missing:
        return needs_key(spec, missing)
    return UnknownModel(f"{spec} is not a model that can be asked: {words}.")


class ProviderModel:
    """One model of one provider."""

    def __init__(self, spec: str, model: "LibraryModel", settings: ProviderSettings) -> None:
        self.name = spec
        self._model = model
        self._settings = settings
        self._rejects_images = False

    @property
    def batches(self) -> "ProviderBatches | None":
        """The batches of this model; None if its provider offers none."""
        from forge_bot.agent.models.provider_batches import ProviderBatches

        if self._model.batch_max_requests is None or not offers_batches(self.name):
            return None
        return ProviderBatches(self.name, self._model, self._batch_request, _reply)

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the reply, or raise one of our errors after the configured attempts. Images that
        the provider rejects are named in place of being shown, then and later.
        """
        without = call.replace(images={})
        if self._rejects_images or not call.images:
            return await self._ask(without)
        try:
            return await self._ask(call)
        except (QuestionRejected, UnknownModel):
            reply = await self._ask(without)
            self._rejects_images = True
            return reply

    async def _ask(self, call: ModelCall) -> ModelReply:
        attempt = 1
        while True:
            try:
                return _reply(self.name, call, await self._attempt(call))
            except ForgeError:
                raise
            # Libraries for credentials have errors of their own here.
            except Exception as error:
                wait = retry_delay(error, attempt) if attempt <= self._settings.retries else None
                if wait is None:
                    raise to_forge_error(
                        self.name, error, self._settings.seconds, attempt
                    ) from error
            await asyncio.sleep(wait)
            attempt += 1

    async def check_key(self) -> None:
        """List the provider's models, which costs nothing. Raises KeyRefused.

        Any other failure is left to the first question: other servers may list nothing, and a key
        for questions alone may not list (403).
        """
        listing = getattr(getattr(self._model, "client", None), "models", None)
        if listing is None:
            return
        try:
            async with self._model as model:
                client: Any = cast("Any", model).client
                await client.with_options(
                    max_retries=0, timeout=min(_KEY_SECONDS, self._settings.seconds)
                ).models.list()
        except Exception as error:
            if getattr(error, "status_code", None) == HTTPStatus.UNAUTHORIZED:
                raise key_refused(self.name, error) from error

    async def _attempt(self, call: ModelCall) -> "ModelResponse":
        from pydantic_ai.direct import model_request

        try:
            # The client is entered for each question: the connection belongs to the running event
            # loop.
            async with self._model as model:
                return await model_request(
                    model,
                    _history(call, marked=self._model.system in _MARKED),
                    model_settings=self._request_settings(call),
                    model_request_parameters=self._parameters(call),
                )
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            # The library expects the documented fields in a provider's body and fails without them.
            raise PossiblyCharged(violation(self.name), details=error_details(error)) from error

    def _request_settings(self, call: ModelCall) -> "ModelSettings":
        wanted: dict[str, object] = {
            "max_tokens": call.output_tokens,
            "cache": True,
            "timeout": self._settings.seconds,
            # The timeout above covers silence only: a server that sends a byte now and then never
            # exceeds it. This one covers the whole attempt.
            "request_timeout": self._settings.seconds,
            # Retries happen here, where the whole attempt has its timeout and each one is counted,
            # and not in the SDK as well.
            "max_retries": 0,
        }
        known = {
            name: value
            for name, value in wanted.items()
            if name not in self._model.unsupported_settings
        }
        return cast("ModelSettings", known)

    def _batch_request(self, question: str, call: ModelCall) -> "BatchRequest":
        """Return a question for a batch, by its id there. Hours later no cache has its start, so
        none is written.
        """
        from pydantic_ai.models.batch import BatchRequest

        settings: dict[str, object] = {"max_tokens": call.output_tokens}
        return BatchRequest(
            custom_id=question,
            messages=_history(call, marked=False),
            model_settings=cast("ModelSettings", settings),
            model_request_parameters=self._parameters(call),
        )

    def _parameters(self, call: ModelCall) -> "ModelRequestParameters":
        from pydantic_ai.messages import InstructionPart
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        form = self._settings.output
        enforced = form == "native" or (
            form == "auto" and self._model.profile.get("supports_json_schema_output", False)
        )
        # One text, not two: some servers accept only a single system message.
        system = [item.text for item in call.messages if item.role is MessageRole.SYSTEM]
        return ModelRequestParameters(
            output_mode="native" if enforced else "prompted",
            output_object=OutputObjectDefinition(
                json_schema=answer_schema(), name="turn", description="Your answer."
            ),
            prompted_output_template="",
            instruction_parts=[InstructionPart(content="\n\n".join((*system, ANSWER_FORMS)))],
            allow_text_output=True,
        )


def _history(call: ModelCall, *, marked: bool) -> "list[ModelMessage]":
    """Return the messages after the system message, in the library's classes. Images stand before
    the text of their message.

    With `marked`, a message is split at its seams. The first and the last seam get a cache mark;
    a later prompt with the same beginning finds the longest part that it shares.
    """
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    def asked(item: ChatMessage) -> ModelRequest:
        texts = _mark_for_cache(item) if marked and item.seams else [item.text]
        content = [*_images(item, call.images), *texts]
        return ModelRequest(
            parts=[UserPromptPart(content=item.text if content == [item.text] else content)]
        )

    return [
        ModelResponse(parts=[TextPart(item.text)])
        if item.role is MessageRole.ASSISTANT
        else asked(item)
        for item in call.messages
        if item.role is not MessageRole.SYSTEM
    ]


def _images(item: ChatMessage, known: Mapping[str, bytes]) -> "Iterator[UserContent]":
    """Yield each image of a message behind its name. Where the bytes are not known, the name says
    so.
    """
    from pydantic_ai.messages import BinaryContent

    for image in item.images:
        data = known.get(image.digest)
        yield f"{image.label}:" if data is not None else f"{image.label}: not shown to this model."
        if data is not None:
            yield BinaryContent(data=data, media_type=image.media_type)


def _mark_for_cache(item: ChatMessage) -> "list[UserContent]":
    from pydantic_ai.messages import CachePoint

    seams = [seam for seam in item.seams if 0 < seam < len(item.text)]
    places = sorted({0, *seams, len(item.text)})
    content: list[UserContent] = []
    for start, end in pairwise(places):
        content.append(item.text[start:end])
        if end in {*seams[:1], *seams[-1:]}:
            content.append(CachePoint())
    return content


_MOST_CHARACTERS = 2_000_000
"""The maximum length of an answer. Anything that a broken server sends beyond it is dropped."""

_FINISH = {"length": FinishReason.LENGTH, "content_filter": FinishReason.REFUSAL}


def _reply(name: str, call: ModelCall, response: "ModelResponse") -> ModelReply:
    if response.finish_reason == "error" or response.state not in {"complete", "incomplete"}:
        raise PossiblyCharged(f"{name} broke off before its answer was complete.")
    details = response.provider_details or {}
    text = response.text or str(details.get("refusal", ""))
    finish = _FINISH.get(response.finish_reason or "stop", FinishReason.STOP)
    if len(text) > _MOST_CHARACTERS:
        text, finish = text[:_MOST_CHARACTERS], FinishReason.LENGTH
    return ModelReply(text=text, usage=_count_usage(name, call, text, response), finish=finish)


_MOST_TOKENS = 100_000_000
"""The maximum tokens of one call; no model reads or writes as many."""


def _count_usage(name: str, call: ModelCall, text: str, response: "ModelResponse") -> Usage:
    """Return the usage of one reply.

    Missing, negative or implausible counts are replaced by a high estimate, so that a budget holds
    whatever a server reports.
    """
    counts = response.usage
    read, written, cost = counts.input_tokens, counts.output_tokens, None
    with suppress(LookupError, ValueError):
        cost = response.cost().total_price
    cached = min(max(counts.cache_read_tokens, 0), max(read, 0))
    if not (0 < read <= _MOST_TOKENS and 0 <= written <= _MOST_TOKENS):
        read, cached = prompt_tokens(call.messages), 0
        written = int(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) + 1
        cost = worst_case(name, read, written)
    return Usage(
        calls=1,
        input_tokens=read,
        cached_tokens=cached,
        output_tokens=written,
        cost=worst_case(name, read, written) if cost is not None and cost < 0 else cost,
        model=response.model_name or name,
    )
