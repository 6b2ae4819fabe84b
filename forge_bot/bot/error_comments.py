"""Turn an error into the reply that people read: the same in thread, summary and log."""

import re
from math import ceil

from forge_bot import errors
from forge_bot.bot.comments import failure_replies, thread_change_replies
from forge_bot.bot.comments.reply import CommentReply
from forge_bot.errors import ForgeError, PushRefusal
from forge_bot.git.remotes import unreached
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.number_format import in_time
from forge_bot.remedies import CheckKey, ModelTrouble, SetKey
from forge_bot.sentences import say
from forge_bot.settings.state_home import state_home

_KEY = "ANTHROPIC_API_KEY"


def reply_to_error(
    error: ForgeError, links: Links, commands: CommandNames, branch: str = ""
) -> CommentReply:
    """The words for an error, with the way out."""
    match error:
        case errors.NoModelKey():
            return failure_replies.key_missing(links, commands, secret=_key(error))
        case errors.KeyRefused():
            return failure_replies.key_refused(
                links, commands, provider=say("failures.provider_begins"), secret=_key(error)
            )
        case errors.ModelUnavailable():
            return _unavailable(error.trouble, error.message, commands)
        case errors.BatchUnderWay():
            return failure_replies.batch_under_way(commands, said=error.message)
        case errors.NoSandbox():
            return failure_replies.no_sandbox(links, commands)
        case errors.RateLimited():
            reply = failure_replies.github_limited(commands, seconds=error.seconds)
            return _not_before(reply, error.seconds)
        case errors.ConversationLocked():
            return thread_change_replies.issue_locked(links)
        case errors.MovedElsewhere():
            return thread_change_replies.issue_transferred(
                links, to=error.to or say("thread.at_another_address")
            )
        case errors.NotOnGitHub():
            return thread_change_replies.issue_gone(links)
        case errors.GitHubRefused():
            return failure_replies.not_taken(
                links, commands, what=say("failures.what_i_wrote"), said=error.message
            )
        case errors.PushRefused() if (
            reply := _push_refused(error, links, commands, branch)
        ) is not None:
            return reply
        case _:
            return _in_own_words(error, links, commands)


def _in_own_words(error: ForgeError, links: Links, commands: CommandNames) -> CommentReply:
    """The reply to any other error: git's words where its server failed, else the error's."""
    if isinstance(error, errors.GitFailed) and (said := unreached(error.output)):
        return failure_replies.git_down(commands, occasion=error.code.lower(), said=said)
    reply = failure_replies.failed(error, links, commands)
    headline, detail = _without_places(reply.headline), _without_places(reply.detail)
    return reply.replace(headline=headline, detail=detail)


def _without_places(text: str) -> str:
    """Return the text without the paths of this machine, which tell nobody in a thread anything."""
    home = re.escape(str(state_home())).replace("_", r"\\?_")
    place = rf"{home}/(?:repositories|default-branch)(?:/(?:\\?[\w.-])*\w){{2}}"
    return re.sub(place, say("failures.the_clone"), text)


def _unavailable(trouble: ModelTrouble, message: str, commands: CommandNames) -> CommentReply:
    match trouble.cause:
        case "rate-limited":
            until = in_time(trouble.seconds) if trouble.seconds is not None else ""
            provider = say("failures.provider_begins")
            reply = failure_replies.rate_limited(commands, provider=provider, until=until)
            return _not_before(reply, trouble.seconds)
        case "no-credit":
            return failure_replies.credit_used_up(commands, provider=say("failures.provider"))
        case "down":
            return failure_replies.model_down(
                commands, provider=say("failures.the_model"), said=message
            )


def _not_before(reply: CommentReply, seconds: float | None) -> CommentReply:
    return reply.replace(seconds=ceil(seconds or 0))


def _push_refused(
    error: errors.PushRefused, links: Links, commands: CommandNames, branch: str
) -> CommentReply | None:
    match error.why:
        case PushRefusal.ARCHIVED:
            return failure_replies.archived(links, commands)
        case PushRefusal.WORKFLOWS:
            return failure_replies.workflow_push_refused(links, commands, said=error.said)
        case PushRefusal.RULES:
            at_fault = error.branch or branch
            return failure_replies.branch_protected(
                links, commands, branch=at_fault, said=error.said
            )
        case PushRefusal.CREDENTIALS:
            return failure_replies.may_not_push(links, commands, said=error.said)
        case PushRefusal.BEHIND:
            return None


def _key(error: ForgeError) -> str:
    return (error.remedy.variable if isinstance(error.remedy, SetKey | CheckKey) else "") or _KEY
