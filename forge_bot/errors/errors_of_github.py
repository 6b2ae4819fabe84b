"""Errors of asking GitHub."""

from typing import Unpack

from forge_bot.errors.error_base import GitHubError, WaysOut


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


class TextTooLong(GitHubError, code="GITHUB-009"):
    """A text is longer than GitHub takes; it was not sent."""


class MovedElsewhere(GitHubError, code="GITHUB-010"):
    """It went to another repository or host, where this token does not follow."""

    def __init__(self, message: str, *, to: str = "", **ways_out: Unpack[WaysOut]) -> None:
        """Make the error; `to` is the new address, where it is known."""
        super().__init__(message, **ways_out)
        self.to = to


class BadAddress(GitHubError, code="GITHUB-011"):
    """An address that no token is sent to."""
