"""Errors of git and of the repository it works on."""

from enum import StrEnum
from typing import Unpack

from forge_bot.errors.error_base import SetupError, WaysOut
from forge_bot.remedies import Remedy


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
