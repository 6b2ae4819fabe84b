"""Errors of asking a model."""

from forge_bot.errors.error_base import ModelError, SetupError
from forge_bot.remedies import CheckKey, ModelTrouble, Remedy, Resume, SetKey


class NoModelKey(SetupError):
    """The provider needs a key and none is set."""

    code = "MODEL-001"
    usual_remedy = SetKey()


class UnknownModel(SetupError):
    """No provider knows a model of that name."""

    code = "MODEL-002"
    hint = "hints.model.unknown_model"


class KeyRefused(SetupError):
    """The provider does not accept the key, or the key may not use this model."""

    code = "MODEL-008"
    usual_remedy = CheckKey()


class ModelUnavailable(ModelError):
    """The provider refused or failed after its own retries."""

    code = "MODEL-003"
    hint = "hints.model.model_unavailable"
    usual_remedy = Resume()

    def __init__(
        self,
        message: str,
        *,
        trouble: ModelTrouble | None = None,
        hint: str | None = None,
        remedy: Remedy | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        """Make the error; without `trouble` the provider is down."""
        super().__init__(message, hint=hint, remedy=remedy, details=details)
        self.trouble = trouble or ModelTrouble()


class BatchUnderWay(ModelError):
    """A provider has not answered a batch yet. Nothing is wrong: the run goes on later."""

    code = "MODEL-009"
    hint = "hints.model.batch_under_way"
    usual_remedy = Resume()
    exit_code = 3


class RecordExhausted(ModelError):
    """A recorded or scripted model has no answer for this question."""

    code = "MODEL-004"
    hint = "hints.model.record_exhausted"


class BadRecord(ModelError):
    """A record or script cannot be read."""

    code = "MODEL-005"
    hint = "hints.model.bad_record"


class ContextTooLong(ModelError):
    """The question is longer than the model's context window."""

    code = "MODEL-006"
    hint = "hints.model.context_too_long"


class QuestionRejected(ModelError):
    """The provider does not take the question as it was put; asking again would not help."""

    code = "MODEL-007"
    hint = "hints.model.question_rejected"
