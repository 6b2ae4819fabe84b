"""Errors of asking a model."""

from typing import Unpack

from forge_bot.errors.error_base import ModelError, SetupError, WaysOut
from forge_bot.remedies import ModelTrouble, Remedy


class NoModelKey(SetupError, code="MODEL-001", hint="", remedy=Remedy("set-key")):
    """The provider needs a key and none is set."""


class UnknownModel(SetupError, code="MODEL-002"):
    """No provider knows a model of that name."""


class KeyRefused(SetupError, code="MODEL-008", hint="", remedy=Remedy("check-key")):
    """The provider does not accept the key, or the key may not use this model."""


class ModelUnavailable(ModelError, code="MODEL-003", remedy=Remedy("resume")):
    """The provider refused or failed after its own retries."""

    def __init__(
        self, message: str, *, trouble: ModelTrouble | None = None, **ways_out: Unpack[WaysOut]
    ) -> None:
        """Make the error; without `trouble` the provider is down."""
        super().__init__(message, **ways_out)
        self.trouble = trouble or ModelTrouble()


class BatchUnderWay(ModelError, code="MODEL-009", remedy=Remedy("resume"), exit_code=3):
    """A provider has not answered a batch yet. Nothing is wrong: the run goes on later."""


class RecordExhausted(ModelError, code="MODEL-004"):
    """A recorded or scripted model has no answer for this question."""


class BadRecord(ModelError, code="MODEL-005"):
    """A record or script cannot be read."""


class ContextTooLong(ModelError, code="MODEL-006"):
    """The question is longer than the model's context window."""


class QuestionRejected(ModelError, code="MODEL-007"):
    """The provider does not take the question as it was put; asking again would not help."""
