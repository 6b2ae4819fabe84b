"""Replies for problems: what happened, what is safe, and how somebody can help.

Each occasion has one constructor.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.reply import CommentReply, failure_reply, reply
from forge_bot.errors import ForgeError
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.number_format import in_time
from forge_bot.interaction.remedy_words import advice_in_thread
from forge_bot.prompts import escape
from forge_bot.remedies import Resume
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import listed, say
from forge_bot.store import RECORD_BRANCHES
from forge_bot.text_format import code_block


def _then(commands: CommandNames) -> str:
    return say(
        "failures.then_say" if commands.repeat else "failures.then_say_nothing_is_done_again",
        again=commands.again,
    )


def _safe(commands: CommandNames) -> str:
    """Return the words on what is safe; none unless it is the run that has to be tried again."""
    return "" if commands.repeat else f"{say('words.work_is_safe')} "


def _once_more(commands: CommandNames, by_hand: str) -> str:
    """Return a sentence on who tries again after a passing problem. `by_hand` names the sentence
    for a run that nothing wakes.
    """
    if commands.by_timer and not commands.repeat:
        return say("failures.i_try_again")
    return say(by_hand, again=commands.again)


# -- the model
# --------------------------------------------------------------------------------------------------


def key_missing(links: Links, commands: CommandNames, *, secret: str) -> CommentReply:
    """No key for the model."""
    where = say("failures.key_missing.detail", secrets=links.secrets, secret=escape.code(secret))
    return failure_reply(
        "key-missing",
        say("failures.key_missing.headline"),
        f"{where} {_then(commands)}",
        outcome=Outcome.REFUSED,
    )


def key_refused(
    links: Links, commands: CommandNames, *, provider: str, secret: str
) -> CommentReply:
    """The provider does not take the key."""
    detail = say(
        "failures.key_refused.detail",
        secrets=links.secrets,
        secret=escape.code(secret),
        then=_then(commands),
    )
    return failure_reply(
        "key-refused",
        say("failures.key_refused.headline", provider=escape.plain(provider, 60)),
        detail,
        outcome=Outcome.REFUSED,
    )


def rate_limited(commands: CommandNames, *, provider: str, until: str = "") -> CommentReply:
    """The provider wants fewer questions. `until` says when it lets somebody ask again: `in 14
    minutes`.
    """
    when = (
        say("failures.rate_limited.come_back", time=escape.plain(until, 60))
        if until
        else say("failures.rate_limited.asked_several_times")
    )
    again = "failures.say_it_then" if until else "failures.say_it_in_some_minutes"
    detail = f"{when} {_safe(commands)}{_once_more(commands, again)}"
    return failure_reply(
        "rate-limited",
        say("failures.rate_limited.headline", provider=escape.plain(provider, 60)),
        detail,
        tone="warning",
    )


def batch_under_way(commands: CommandNames, *, said: str) -> CommentReply:
    """A model's provider has not answered a batch yet, and nothing is wrong."""
    looks = (
        say("failures.batch_under_way.i_look_again")
        if commands.by_timer
        else say("failures.batch_under_way.with_the_next_job", again=commands.again)
    )
    answered = say("failures.batch_under_way.within_a_day")
    detail = f"{escape.line(said, 400)} {answered} {looks}"
    return reply(
        "batch-under-way", say("failures.batch_under_way.headline"), detail, outcome=Outcome.WAITING
    )


def credit_used_up(commands: CommandNames, *, provider: str) -> CommentReply:
    """The account with the provider has no credit left; no wait helps."""
    detail = say("failures.credit_used_up.detail", safe=_safe(commands), again=commands.again)
    return failure_reply(
        "credit-used-up",
        say("failures.credit_used_up.headline", provider=escape.plain(provider, 60)),
        detail,
        tone="warning",
    )


def model_down(commands: CommandNames, *, provider: str, said: str) -> CommentReply:
    """The provider does not answer."""
    what = escape.line(said.removesuffix("."), 300)
    detail = f"{what}. {_safe(commands)}{_once_more(commands, 'failures.say_it_when_it_is_back')}"
    return failure_reply(
        "model-down",
        say("failures.model_down.headline", provider=escape.plain(provider, 60)),
        detail,
        tone="warning",
    )


# -- GitHub refuses
# --------------------------------------------------------------------------------------------------


def not_taken(links: Links, commands: CommandNames, *, what: str, said: str) -> CommentReply:
    """GitHub answered 422: it does not accept the text or the object."""
    detail = say(
        "failures.not_taken.detail",
        said=escape.code(said, 300),
        folder=links.folder,
        again=commands.again,
    )
    return failure_reply(
        "not-taken", say("failures.not_taken.headline", what=escape.plain(what, 80)), detail
    )


def github_limited(commands: CommandNames, *, seconds: int | None) -> CommentReply:
    """GitHub's own rate limit, and in how many seconds it ends."""
    after = _once_more(commands, "failures.say_it_after_that")
    detail = say(
        "failures.github_limited.detail", time=in_time(seconds), safe=_safe(commands), after=after
    )
    return failure_reply(
        "github-limited", say("failures.github_limited.headline"), detail, tone="warning"
    )


def branch_protected(
    links: Links, commands: CommandNames, *, branch: str, said: str
) -> CommentReply:
    """A push was refused by a rule on the branch."""
    rules = say("failures.branch_protected.rules", repository=links.repository)
    way = (
        say("failures.branch_protected.by_signature", branch=escape.code(branch), rules=rules)
        if "signature" in said.lower()
        else say("failures.branch_protected.let_it_push", branch=escape.code(branch), rules=rules)
    )
    detail = say(
        "failures.branch_protected.detail",
        said=escape.code(said, 300),
        way=way,
        unpushed=_unpushed(commands),
    )
    return failure_reply("branch-protected", say("failures.branch_protected.headline"), detail)


def may_not_push(links: Links, commands: CommandNames, *, said: str) -> CommentReply:
    """The token may not write to the repository at all."""
    detail = say(
        "failures.may_not_push.detail",
        said=escape.code(said, 300),
        settings=links.settings,
        unpushed=_unpushed(commands),
    )
    return failure_reply(
        "may-not-push", say("failures.may_not_push.headline"), detail, outcome=Outcome.REFUSED
    )


def _unpushed(commands: CommandNames) -> str:
    return say("failures.unpushed", again=commands.again)


def workflow_files(
    links: Links, commands: CommandNames, *, files: Sequence[str], patch: str, branch: str
) -> CommentReply:
    """A push was refused, or would be, because workflow files are in it. No workflow's own token
    may change them. `branch` is the one that is offered for merge, where the patch lies nowhere.
    """
    named = listed([escape.code(path) for path in files[:5]])
    if unnamed := files[5:]:
        named += say("words.and_more_files", count=len(unnamed))
    apply = (
        f"git fetch\ngit switch {branch}\n"
        f"git show {links.commit}:{links.workspace}/{patch} |\n"
        "  git apply --index --include='.github/workflows/*'\n"
        "git commit -m 'Change the workflows'\ngit push"
    )
    detail = say(
        "failures.workflow_files.detail",
        named=named,
        patch=links.artifact(patch),
        commands=code_block(apply),
        status=commands.say("status"),
    )
    return reply(
        "workflow-files", say("failures.workflow_files.headline"), detail, tone="important"
    )


def workflow_push_refused(links: Links, commands: CommandNames, *, said: str) -> CommentReply:
    """A push was refused because of workflow files that were not expected in it."""
    detail = say(
        "failures.workflow_push_refused.detail",
        said=escape.code(said, 300),
        folder=links.folder,
        again=commands.again,
    )
    return failure_reply(
        "workflow-push-refused", say("failures.workflow_push_refused.headline"), detail
    )


def checks_wait(*, pull_request: str) -> CommentReply:
    """GitHub holds the checks of a bot's pull request until somebody clicks."""
    detail = say("failures.checks_wait.detail", pull_request=pull_request)
    return reply("checks-wait", say("failures.checks_wait.headline"), detail, tone="important")


def record_not_kept(links: Links, *, run: str, branch: str, said: str) -> CommentReply:
    """The branch of records cannot be pushed, or somebody else made it."""
    detail = say(
        "failures.record_not_kept.detail",
        run=escape.code(run),
        branch=escape.code(branch),
        folder=links.folder,
        said=escape.code(said, 300),
    )
    return reply(
        "record-not-kept",
        say("failures.record_not_kept.headline", branch=RECORD_BRANCHES[0]),
        detail,
        tone="warning",
    )


# -- the run itself
# --------------------------------------------------------------------------------------------------


def cancelled(commands: CommandNames) -> CommentReply:
    """The workflow run was ended from outside: by somebody, or by its time limit, which look the
    same from here.
    """
    detail = say(
        "failures.cancelled.detail", retry=commands.say("retry"), abandon=commands.say("abandon")
    )
    return failure_reply("cancelled", say("failures.cancelled.headline"), detail, tone="note")


def no_sandbox(links: Links, commands: CommandNames) -> CommentReply:
    """The project's commands cannot be locked in on this runner."""
    headline = say("failures.no_sandbox.headline")
    detail = say("failures.no_sandbox.detail", job=links.job, then=_then(commands))
    if commands.by_timer:
        headline = say("failures.no_sandbox.headline_of_worker")
        again = _once_more(commands, "failures.say_it_then")
        detail = say("failures.no_sandbox.on_the_worker", again=again)
    return failure_reply("no-sandbox", headline, detail, outcome=Outcome.REFUSED)


def failed(error: ForgeError, links: Links, commands: CommandNames) -> CommentReply:
    """Any other error of the registry, in its own words."""
    details = "".join(f"- {escape.line(each, 300)}\n" for each in error.details[:10])
    log = say("failures.failed.log", job=links.job) if links.job else ""
    advice = advice_in_thread(error, commands)
    again = (
        ""
        if isinstance(error.remedy, Resume)
        else say("failures.failed.then_say", again=commands.again)
    )
    return failure_reply(
        error.code.lower(),
        escape.line(f"{error.message[:1].upper()}{error.message[1:]}", 400),
        f"{details}\n{advice}{again}{log} <sub>{escape.code(error.code)}</sub>".lstrip(),
        outcome=Outcome(error.exit_code),
    )


def unexpected(links: Links, commands: CommandNames) -> CommentReply:
    """An unexpected error."""
    log = (
        say("failures.unexpected.log", job=links.job)
        if links.job
        else say("failures.unexpected.with_the_log")
    )
    return failure_reply(
        "unexpected",
        say("failures.unexpected.headline"),
        say("failures.unexpected.detail", log=log, safe=_safe(commands), again=commands.again),
    )
