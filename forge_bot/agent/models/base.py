"""The seam to a model: messages in, one reply out. Nothing here knows a provider."""

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from forge_bot.agent.model_answers import AnswerKind
from forge_bot.errors import ModelUnavailable
from forge_bot.values import Frozen, Tier, Usage

# English prose and code run at about four characters a token; three and a half bytes is a cautious average,
# and counting bytes keeps it cautious for scripts that need more than a byte a letter.
BYTES_PER_TOKEN = 3.5
# What a provider adds around each message, and for the schema of the answer.
TOKENS_PER_MESSAGE = 8
TOKENS_OF_SCHEMA = 1_000


class MessageRole(StrEnum):
    """Who says a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class ChatMessage(Frozen):
    """One message of the conversation."""

    role: MessageRole
    text: str


class Finish(StrEnum):
    """Why the model stopped writing."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"


class ReplayKey(NamedTuple):
    """What a question is found by in a record: stable over runs of the same pipeline, free of anything random."""

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


class ModelReply(Frozen):
    """What the model wrote, unread."""

    text: str
    usage: Usage = Usage()
    finish: Finish = Finish.STOP


class PerhapsPaid(ModelUnavailable):
    """The question was sent and no answer came back: the provider may have worked, and may charge for it."""


class Model(Protocol):
    """Answers one question at a time; holds no conversation and no tool."""

    @property
    def name(self) -> str:
        """`provider:model`, or `scripted:FILE`, `replay:FILE`; prices are found by it."""
        ...

    async def ask(self, call: ModelCall) -> ModelReply:
        """The reply. Raises ModelUnavailable after the provider's own retries, ContextTooLong, QuestionRejected,
        KeyRefused, UnknownModel, and from a record RecordExhausted.
        """
        ...


def prompt_tokens(messages: Sequence[ChatMessage]) -> int:
    """The most tokens these messages are likely to cost, with the schema that goes along."""
    size = sum(len(message.text.encode("utf-8", "replace")) for message in messages)
    return int(size / BYTES_PER_TOKEN) + 1 + len(messages) * TOKENS_PER_MESSAGE + TOKENS_OF_SCHEMA


def prompt_digest(call: ModelCall) -> str:
    """sha256 over everything the model would be shown: two calls with one digest are the same question."""
    shown = [call.kind.value, *([message.role.value, message.text] for message in call.messages)]
    return hashlib.sha256(json.dumps(shown, ensure_ascii=True).encode()).hexdigest()
