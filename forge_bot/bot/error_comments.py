"""Turn an error into the reply that people read: the same in thread, summary and log."""

import re
from math import ceil

from forge_bot import errors
from forge_bot.bot.comments.reply import CommentReply, reply
from forge_bot.errors import ForgeError, PushRefusal
from forge_bot.git.remotes import unreached
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.markdown_templates import Markdown
from forge_bot.interaction.number_format import in_time
from forge_bot.interaction.remedy_words import advice_in_thread
from forge_bot.remedies import ModelTrouble, Remedy
from forge_bot.resources import state_home
from forge_bot.runs.invocation_end import Outcome

_KEY = "ANTHROPIC_API_KEY"
_GIVEN_BY_GITHUB: dict[type[ForgeError], str] = {
    errors.ConversationLocked: "issue_locked",
    errors.NotOnGitHub: "issue_gone",
    errors.GitHubRefused: "not_taken",
    errors.NoSandbox: "no_sandbox",
    errors.NoModelKey: "key_missing",
    errors.KeyRefused: "key_refused",
    errors.BatchUnderWay: "batch_under_way",
}
_REFUSED_PUSH = {
    PushRefusal.ARCHIVED: "archived",
    PushRefusal.WORKFLOWS: "workflow_push_refused",
    PushRefusal.RULES: "branch_protected",
    PushRefusal.CREDENTIALS: "may_not_push",
}


def reply_to_error(
    error: ForgeError, links: Links, commands: CommandNames, branch: str = ""
) -> CommentReply:
    """The words for an error, with the way out."""
    match error:
        case errors.ModelUnavailable():
            return _unavailable(error.trouble, error.message, links, commands)
        case errors.RateLimited(seconds=seconds):
            limited = reply("github_limited", commands=commands, until=in_time(seconds))
            return limited.replace(seconds=ceil(seconds or 0))
        case errors.MovedElsewhere(to=to):
            return reply("issue_transferred", links=links, to=to)
        case errors.PushRefused(why=why) if why in _REFUSED_PUSH:
            at_fault = error.branch or branch
            return reply(
                _REFUSED_PUSH[why],
                links=links,
                commands=commands,
                branch=at_fault,
                message=error.said,
            )
        case errors.GitFailed(output=output) if lost := unreached(output):
            down = reply("git_down", commands=commands, message=lost)
            return down.replace(occasion=error.code.lower())
        case _:
            kinds = (name for kind, name in _GIVEN_BY_GITHUB.items() if isinstance(error, kind))
            if (name := next(kinds, "")) == "":
                return failed(error, links, commands)
            message, secret = error.message, _key(error)
            return reply(name, links=links, commands=commands, message=message, secret=secret)


def failed(error: ForgeError, links: Links, commands: CommandNames) -> CommentReply:
    """Return the reply to any other error of the registry, in its own words: a worker may have
    chosen them, so nothing in them is a link.
    """
    plain = reply(
        "failed",
        links=links,
        commands=commands,
        message=f"{error.message[:1].upper()}{error.message[1:]}",
        details=error.details[:10],
        advice=Markdown(advice_in_thread(error, commands)),
        resumes=error.remedy == Remedy("resume"),
        code=error.code,
    )
    return plain.replace(
        occasion=error.code.lower(),
        headline=_without_places(plain.headline),
        detail=_without_places(plain.detail),
        outcome=Outcome(error.exit_code),
    )


def _without_places(text: str) -> str:
    """Return the text without the paths of this machine, which tell nobody in a thread anything."""
    home = re.escape(str(state_home())).replace("_", r"\\?_")
    place = rf"{home}/(?:repositories|default-branch)(?:/(?:\\?[\w.-])*\w){{2}}"
    return re.sub(place, "the clone of the job", text)


def _unavailable(
    trouble: ModelTrouble, message: str, links: Links, commands: CommandNames
) -> CommentReply:
    match trouble.cause:
        case "rate-limited":
            until = in_time(trouble.seconds) if trouble.seconds is not None else ""
            limited = reply("rate_limited", commands=commands, until=until)
            return limited.replace(seconds=ceil(trouble.seconds or 0))
        case "cap":
            reached = reply("cap_reached", commands=commands, message=message)
            return reached.replace(seconds=ceil(trouble.seconds or 0))
        case "switched-off":
            return reply("switched_off", links=links, commands=commands)
        case "no-credit":
            return reply("credit_used_up", commands=commands)
        case "down":
            return reply("model_down", commands=commands, message=message.removesuffix("."))


def _key(error: ForgeError) -> str:
    return (error.remedy.about if error.remedy is not None else "") or _KEY
