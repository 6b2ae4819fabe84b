"""Turn an error into the reply that people read: the same in thread, summary and log."""

from math import ceil

from forge_bot import errors
from forge_bot.bot.comments.reply import CommentReply, reply
from forge_bot.errors import ForgeError, PushRefusal
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.markdown_templates import Markdown
from forge_bot.interaction.number_format import in_time
from forge_bot.interaction.remedy_words import advice_in_thread
from forge_bot.remedies import Remedy
from forge_bot.runs.invocation_end import Outcome

_KEY = "ANTHROPIC_API_KEY"
_PAUSES = {
    "rate-limited": "rate_limited",
    "cap": "cap_reached",
    "switched-off": "switched_off",
}
_NAMED: dict[type[ForgeError], str] = {
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
        case errors.ModelUnavailable(trouble=trouble) if trouble.cause in _PAUSES:
            until = in_time(trouble.seconds) if trouble.seconds is not None else ""
            given = {"links": links, "commands": commands, "until": until}
            paused = reply(_PAUSES[trouble.cause], message=error.message, **given)
            return paused.replace(seconds=ceil(trouble.seconds or 0))
        case errors.RateLimited(seconds=seconds):
            limited = reply("github_limited", commands=commands, until=in_time(seconds))
            return limited.replace(seconds=ceil(seconds or 0))
        case errors.PushRefused(why=why) if why in _REFUSED_PUSH:
            at_fault = error.branch or branch
            return reply(
                _REFUSED_PUSH[why],
                links=links,
                commands=commands,
                branch=at_fault,
                message=error.said,
            )
        case _:
            kinds = (name for kind, name in _NAMED.items() if isinstance(error, kind))
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
    return plain.replace(occasion=error.code.lower(), outcome=Outcome(error.exit_code))


def _key(error: ForgeError) -> str:
    return (error.remedy.about if error.remedy is not None else "") or _KEY
