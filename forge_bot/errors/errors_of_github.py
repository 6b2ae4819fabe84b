"""Errors of asking GitHub."""

from forge_bot.errors.error_base import GitHubError


class TokenRefused(GitHubError):
    """GitHub does not accept the token."""

    code = "GITHUB-001"
    hint = "Set GITHUB_TOKEN anew; in Actions it ends with its job."


class PermissionMissing(GitHubError):
    """The token may not do that; the message names the permission where GitHub tells it."""

    code = "GITHUB-002"
    hint = "Give the job that permission under `permissions:`, or use a token that has it."


class NotOnGitHub(GitHubError):
    """It is not there, was deleted, or the token may not know of it."""

    code = "GITHUB-003"
    hint = "Check the address; what is private needs a token that may see it."


class GhFailed(GitHubError):
    """The command gh is missing, or could not do what it was asked; its own words are shown."""

    code = "GITHUB-012"
    hint = "`gh auth status` says whether gh can speak to GitHub; `forge-bot resume` tries again."


class GitHubRefused(GitHubError):
    """GitHub does not take what was sent; details name the fields."""

    code = "GITHUB-004"
    hint = "GitHub's own words are above; asking again unchanged would not help."


class ConversationLocked(GitHubError):
    """The issue or pull request is locked, and the token belongs to nobody who may talk there."""

    code = "GITHUB-005"
    hint = "Unlock the conversation on GitHub."


class RateLimited(GitHubError):
    """A limit of GitHub is used up for longer than may be waited here; `seconds` says for how long,
    where GitHub tells it.
    """

    code = "GITHUB-006"
    hint = "Wait until then; nothing of this request was carried out."

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
    hint = "Try again; see githubstatus.com if it goes on."


class StrangeAnswer(GitHubError):
    """An error for an answer that is not GitHub's."""

    code = "GITHUB-008"
    hint = "Check GITHUB_API_URL, and proxies in between."


class TextTooLong(GitHubError):
    """A text is longer than GitHub takes; it was not sent."""

    code = "GITHUB-009"
    hint = "Shorten it, or put the long part into a file of the branch."


class MovedElsewhere(GitHubError):
    """It went to another repository or host, where this token does not follow."""

    code = "GITHUB-010"
    hint = "Go on at the new address."

    def __init__(
        self, message: str, *, to: str = "", hint: str | None = None, details: tuple[str, ...] = ()
    ) -> None:
        """Make the error; `to` is the new address, where it is known."""
        super().__init__(message, hint=hint, details=details)
        self.to = to


class BadAddress(GitHubError):
    """An address that no token is sent to."""

    code = "GITHUB-011"
    hint = "Correct GITHUB_API_URL: https, or http on this machine."
