"""Errors of git and of the repository it works on, of asking GitHub, and of asking a model."""

from enum import StrEnum
from typing import Unpack

from forge_bot.errors.error_base import GitHubError, ModelError, SetupError, WaysOut
from forge_bot.remedies import ModelTrouble, Remedy


class NotARepository(SetupError, code="GIT-001"):
    """The folder is not inside a git work tree."""


class DetachedHead(SetupError, code="GIT-002"):
    """HEAD names no branch, so there is no base to start from or return to."""


class NoCommits(SetupError, code="GIT-003"):
    """The repository has no commit yet."""


class DirtyTree(SetupError, code="GIT-004"):
    """Uncommitted work stands where the run would have to write."""


class BranchExists(SetupError, code="GIT-005"):
    """The branch that was asked for exists already."""


class GitFailed(SetupError, code="GIT-006"):
    """A git command failed; its own words are in the message."""

    def __init__(self, message: str, *, output: str = "", **ways_out: Unpack[WaysOut]) -> None:
        """Make the error; `output` is what git itself printed."""
        super().__init__(message, **ways_out)
        self.output = output


class PushRefusal(StrEnum):
    """The reason why a push was refused."""

    BEHIND = "behind"
    ARCHIVED = "archived"
    WORKFLOWS = "workflows"
    RULES = "rules"
    CREDENTIALS = "credentials"


class PushRefused(GitFailed):
    """The remote does not take a push; `said` are its own words, `branch` is what it refused."""

    def __init__(
        self,
        failed: GitFailed,
        why: PushRefusal,
        said: str,
        *,
        hint: str,
        branch: str = "",
        remedy: Remedy | None = None,
    ) -> None:
        """Make the error from the failed call of git."""
        super().__init__(
            failed.message, output=failed.output, hint=hint, remedy=remedy, details=failed.details
        )
        self.why = why
        self.said = said
        self.branch = branch


class GitMissing(SetupError, code="GIT-007"):
    """git is not installed, or too old."""


class TokenRefused(GitHubError, code="GITHUB-001"):
    """GitHub does not accept the token."""


class PermissionMissing(GitHubError, code="GITHUB-002"):
    """The token may not do that; the message names the permission where GitHub tells it."""


class NotOnGitHub(GitHubError, code="GITHUB-003"):
    """It is not there, was deleted, or the token may not know of it."""


class GhFailed(GitHubError, code="GITHUB-012"):
    """The command gh is missing, or could not do what it was asked; its own words are shown."""


class GitHubRefused(GitHubError, code="GITHUB-004"):
    """GitHub does not take what was sent; details name the fields."""

    def __init__(
        self, message: str, *, exists_already: bool = False, **ways_out: Unpack[WaysOut]
    ) -> None:
        """Make the error; `exists_already` says that what should be made is there."""
        super().__init__(message, **ways_out)
        self.exists_already = exists_already


class ConversationLocked(GitHubError, code="GITHUB-005"):
    """The issue or pull request is locked, and the token belongs to nobody who may talk there."""


class RateLimited(GitHubError, code="GITHUB-006"):
    """A limit of GitHub is used up for longer than may be waited here; `seconds` says for how long,
    where GitHub tells it.
    """

    def __init__(
        self, message: str, *, seconds: int | None = None, **ways_out: Unpack[WaysOut]
    ) -> None:
        super().__init__(message, **ways_out)
        self.seconds = seconds


class GitHubUnavailable(GitHubError, code="GITHUB-007"):
    """GitHub failed, or did not answer in time."""


class StrangeAnswer(GitHubError, code="GITHUB-008"):
    """An error for an answer that is not GitHub's."""


class MovedElsewhere(GitHubError, code="GITHUB-010"):
    """It went to another repository or host, where this token does not follow."""

    def __init__(self, message: str, *, to: str = "", **ways_out: Unpack[WaysOut]) -> None:
        """Make the error; `to` is the new address, where it is known."""
        super().__init__(message, **ways_out)
        self.to = to


class BadAddress(GitHubError, code="GITHUB-011"):
    """An address that no token is sent to."""


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
