"""The interface of a model: messages in, one reply out. It is independent of providers."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from pydantic import Field

from forge_bot.agent.model_answers import AnswerKind
from forge_bot.errors import ModelUnavailable
from forge_bot.values import Frozen, Tier, Usage, unless_empty

# English prose and code have about four characters a token; three and a half bytes is a cautious
# average. Counting bytes keeps it cautious for scripts that need more than a byte a letter.
BYTES_PER_TOKEN = 3.5
# The most that Anthropic and OpenAI count for one image of a size that they do not reduce.
TOKENS_PER_IMAGE = 3_000
# The tokens that a provider adds for each message, and for the schema of the answer.
TOKENS_PER_MESSAGE = 8
TOKENS_OF_SCHEMA = 1_000


class MessageRole(StrEnum):
    """The author of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


_TEXT_ONLY = re.compile(
    r":(?:.*/)?(?:gpt-3|gpt-oss|o1-mini|o3-mini|deepseek|codestral|devstral|mi[sx]tral-"
    r"(?:7b|8x)|command-r|llama-?3[.-][13]|qwen\d?(?:\.\d)?-?coder)",
    re.IGNORECASE,
)
"""Names of models that read no images."""


def reads_images(spec: str) -> bool:
    """Return whether a model may read images, as far as its name tells."""
    return _TEXT_ONLY.search(spec) is None


class Image(Frozen):
    """An image before the text of a message. Its bytes come with the call."""

    label: str
    media_type: str
    digest: str


class ChatMessage(Frozen):
    """One message of the conversation."""

    role: MessageRole
    text: str
    images: tuple[Image, ...] = unless_empty((), "the images that stand before the text")
    seams: tuple[int, ...] = Field(
        default=(),
        description="where one part of the text ends that a later prompt may begin with as well",
    )


class FinishReason(StrEnum):
    """The reason why the model stopped writing."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"


class ReplayKey(NamedTuple):
    """The key of a question in a record:

    stable over runs of the same pipeline, without random parts.
    """

    agent: str
    phase: str
    round: str
    schema: str

    def __str__(self) -> str:
        return f"{self.agent} {self.phase} {self.round} {self.schema}"


class ModelCall(Frozen):
    """One self-contained question."""

    key: ReplayKey
    messages: tuple[ChatMessage, ...]
    kind: AnswerKind
    output_tokens: int
    tier: Tier
    images: Mapping[str, bytes] = Field(default={}, description="bytes of images, by digest")


class ModelReply(Frozen):
    """The model's text, not yet parsed."""

    text: str
    usage: Usage = Usage()
    finish: FinishReason = FinishReason.STOP


class PossiblyCharged(ModelUnavailable):
    """The question was sent and no answer came back: the provider may charge for it."""


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


class Model(Protocol):
    """Answers one question at a time. It holds no conversation and no tool."""

    @property
    def name(self) -> str:
        """`provider:model`, or `scripted:FILE`, `replay:FILE`. Prices are looked up by it."""
        ...

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the reply.

        Raises ModelUnavailable after the provider's own retries, ContextTooLong, QuestionRejected,
        KeyRefused, UnknownModel, and from a record RecordExhausted.
        """
        ...


def prompt_tokens(messages: Sequence[ChatMessage]) -> int:
    """Return the maximum likely tokens of these messages, including the schema."""
    size = sum(len(message.text.encode("utf-8", "replace")) for message in messages)
    images = sum(len(message.images) for message in messages) * TOKENS_PER_IMAGE
    around = len(messages) * TOKENS_PER_MESSAGE + TOKENS_OF_SCHEMA
    return int(size / BYTES_PER_TOKEN) + 1 + images + around
