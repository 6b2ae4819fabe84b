"""From what went wrong to what people read: one reply for each error, in thread, summary and log alike."""

import re
from collections.abc import Iterator

from forge_bot import errors
from forge_bot.bot.comments import CommandNames, CommentReply, Links, failure_replies
from forge_bot.bot.outbox import WorkerStopped
from forge_bot.errors import ForgeError

_KEY = "ANTHROPIC_API_KEY"
_PROVIDER = "The model's provider"
_WAIT = re.compile(r"asks to wait for ([\w,]+ \w+)")
_ADDRESS = re.compile(r"moved to (https?://\S+?)[.,;]?(?:\s|$)")
_REJECTED = re.compile(r"\[remote rejected\][^()]*\((?P<why>.+)\)")
# What git says where a server does not let this account write (git-remote-http; GitHub's words and status).
_MAY_NOT = ("Permission to", "Write access to repository not granted", "error: 403")


def reply_to_error(error: ForgeError, links: Links, commands: CommandNames, branch: str = "") -> CommentReply:
    """The words for an error, with the way out."""
    match error:
        case errors.NoModelKey():
            return failure_replies.key_missing(links, commands, secret=_key(error))
        case errors.KeyRefused():
            return failure_replies.key_refused(links, commands, provider=_PROVIDER, secret=_key(error))
        case errors.ModelUnavailable():
            return _unavailable(error.message, commands)
        case errors.NoSandbox():
            return failure_replies.no_sandbox(links, commands)
        case errors.RateLimited():
            return failure_replies.github_limited(commands, seconds=error.seconds)
        case errors.ConversationLocked():
            return failure_replies.issue_locked(links)
        case errors.MovedElsewhere():
            found = _ADDRESS.search(error.message)
            return failure_replies.issue_transferred(links, to=found[1] if found else "at another address")
        case errors.NotOnGitHub():
            return failure_replies.issue_gone(links)
        case errors.GitHubRefused():
            return failure_replies.not_taken(links, commands, what="what I wrote", said=error.message)
        case errors.GitFailed() if (refused := _push_refused(error.message, links, commands, branch)) is not None:
            return refused
        case _:
            return failure_replies.failed(error, links, commands)


def _unavailable(message: str, commands: CommandNames) -> CommentReply:
    """A worker hands on words, so these are told apart by our own sentences (`agent/models/provider_errors.py`)."""
    if "rate limit" in message:
        found = _WAIT.search(message)
        return failure_replies.rate_limited(commands, provider=_PROVIDER, until=f"in {found[1]}" if found else "")
    if "quota or credit" in message:
        return failure_replies.credit_used_up(commands, provider=_PROVIDER.replace("The", "the", 1))
    return failure_replies.model_down(commands, provider="The model", said=message)


def _push_refused(message: str, links: Links, commands: CommandNames, branch: str) -> CommentReply | None:
    if " push " not in message:
        return None
    words = _words(message).rstrip(".")
    if "workflow" in words:
        return failure_replies.workflow_push_refused(links, commands, said=words)
    if "remote rejected" in message or "GH006" in message or "GH013" in message:
        return failure_replies.branch_protected(links, commands, branch=branch, said=words)
    if any(sign in message for sign in _MAY_NOT):
        return failure_replies.may_not_push(links, commands, said=words)
    return None


def _words(message: str) -> str:
    """What the other side said in a message of git, without the call of git and what git adds."""
    _, _, said = message.partition("` failed: ")
    lines = [
        line.removeprefix("remote:").strip().removeprefix("error:").strip() for line in said.splitlines() if line.startswith("remote:")
    ]
    why = [found["why"] for found in _REJECTED.finditer(said)]
    return "; ".join(dict.fromkeys(line for line in (*lines, *why) if line)) or " ".join(said.split()) or message


def as_error(stopped: WorkerStopped) -> ForgeError:
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
