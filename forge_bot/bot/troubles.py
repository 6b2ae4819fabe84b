"""From what went wrong to what people read: one reply for each error, in thread, summary and log alike."""

from collections.abc import Iterator

from forge_bot import errors
from forge_bot.bot.outbox import Stopped
from forge_bot.bot.speech import Commands, Links, Reply, failures
from forge_bot.errors import ForgeError

_KEY = "ANTHROPIC_API_KEY"


def reply_to(error: ForgeError, links: Links, commands: Commands, branch: str = "") -> Reply:
    """The words for an error, with the way out."""
    match error:
        case errors.NoModelKey():
            return failures.key_missing(links, commands, secret=_key(error))
        case errors.KeyRefused():
            return failures.key_refused(links, commands, provider="The model's provider", secret=_key(error))
        case errors.ModelUnavailable():
            return failures.model_down(commands, provider="The model", said=error.message)
        case errors.NoSandbox():
            return failures.no_sandbox(links)
        case errors.RateLimited():
            return failures.github_limited(commands, until=error.advice)
        case errors.ConversationLocked():
            return failures.issue_locked(links)
        case errors.MovedElsewhere():
            return failures.issue_transferred(links, to=error.message)
        case errors.NotOnGitHub():
            return failures.issue_gone(links)
        case errors.GitHubRefused():
            return failures.not_taken(links, commands, what="what I wrote", said=error.message)
        case errors.GitFailed() if "workflow" in error.message:
            return failures.workflow_push_refused(links, commands, said=error.message)
        case errors.GitFailed() if "remote rejected" in error.message or "GH006" in error.message or "GH013" in error.message:
            return failures.branch_protected(links, commands, branch=branch, said=error.message)
        case _:
            return failures.failed(error, links, commands)


def as_error(stopped: Stopped) -> ForgeError:
    """The error that a worker told of, as the class it was."""
    kind = next((kind for kind in _every(ForgeError) if kind.code == stopped.code), ForgeError)
    return kind(stopped.message or "The worker failed.", hint=stopped.hint or None)


def _every(kind: type[ForgeError]) -> Iterator[type[ForgeError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _every(each)


def _key(error: ForgeError) -> str:
    words = [word.strip("`.,()") for word in f"{error.message} {error.advice}".split()]
    return next((word for word in words if word.endswith("_API_KEY")), _KEY)
