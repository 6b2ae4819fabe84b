"""Errors of asking GitHub."""

from forge_bot.errors.error_base import GitHubError


class TokenRefused(GitHubError):
    """GitHub does not accept the token."""

    code = "GITHUB-001"
    hint = "hints.github.token_refused"


class PermissionMissing(GitHubError):
    """The token may not do that; the message names the permission where GitHub tells it."""

    code = "GITHUB-002"
    hint = "hints.github.permission_missing"


class NotOnGitHub(GitHubError):
    """It is not there, was deleted, or the token may not know of it."""

    code = "GITHUB-003"
    hint = "hints.github.not_on_github"


class GhFailed(GitHubError):
    """The command gh is missing, or could not do what it was asked; its own words are shown."""

    code = "GITHUB-012"
    hint = "hints.github.gh_failed"


class GitHubRefused(GitHubError):
    """GitHub does not take what was sent; details name the fields."""

    code = "GITHUB-004"
    hint = "hints.github.github_refused"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: tuple[str, ...] = (),
        exists_already: bool = False,
    ) -> None:
        """Make the error; `exists_already` says that what should be made is there."""
        super().__init__(message, hint=hint, details=details)
        self.exists_already = exists_already


class ConversationLocked(GitHubError):
    """The issue or pull request is locked, and the token belongs to nobody who may talk there."""

    code = "GITHUB-005"
    hint = "hints.github.conversation_locked"


class RateLimited(GitHubError):
    """A limit of GitHub is used up for longer than may be waited here; `seconds` says for how long,
    where GitHub tells it.
    """

    code = "GITHUB-006"
    hint = "hints.github.rate_limited"

    def __init__(
        self,
        message: str,
        *,
        seconds: int | None = None,
        hint: str | None = None,
        details: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.seconds = seconds


class GitHubUnavailable(GitHubError):
    """GitHub failed, or did not answer in time."""

    code = "GITHUB-007"
    hint = "hints.github.github_unavailable"


class StrangeAnswer(GitHubError):
    """An error for an answer that is not GitHub's."""

    code = "GITHUB-008"
    hint = "hints.github.strange_answer"


class TextTooLong(GitHubError):
    """A text is longer than GitHub takes; it was not sent."""

    code = "GITHUB-009"
    hint = "hints.github.text_too_long"


class MovedElsewhere(GitHubError):
    """It went to another repository or host, where this token does not follow."""

    code = "GITHUB-010"
    hint = "hints.github.moved_elsewhere"

    def __init__(
        self, message: str, *, to: str = "", hint: str | None = None, details: tuple[str, ...] = ()
    ) -> None:
        """Make the error; `to` is the new address, where it is known."""
        super().__init__(message, hint=hint, details=details)
        self.to = to


class BadAddress(GitHubError):
    """An address that no token is sent to."""

    code = "GITHUB-011"
    hint = "hints.github.bad_address"
