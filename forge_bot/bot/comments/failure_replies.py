"""Replies for problems: what happened, what is safe, and how somebody can help.

Each occasion has one constructor.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.reply import (
    CommentReply,
    failure_of,
    first_files,
    reply,
    reply_of,
)
from forge_bot.errors import ForgeError
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.number_format import in_time
from forge_bot.interaction.remedy_words import advice_in_thread
from forge_bot.prompts import escape
from forge_bot.remedies import Resume
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import say
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
    return failure_of(
        "failures.key_missing",
        outcome=Outcome.REFUSED,
        secrets=links.secrets,
        secret=escape.code(secret),
        then=_then(commands),
    )


def key_refused(
    links: Links, commands: CommandNames, *, provider: str, secret: str
) -> CommentReply:
    """The provider does not take the key."""
    return failure_of(
        "failures.key_refused",
        outcome=Outcome.REFUSED,
        secrets=links.secrets,
        secret=escape.code(secret),
        then=_then(commands),
        provider=escape.plain(provider, 60),
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
    return failure_of(
        "failures.rate_limited",
        tone="warning",
        when=when,
        safe=_safe(commands),
        again=_once_more(commands, again),
        provider=escape.plain(provider, 60),
    )


def batch_under_way(commands: CommandNames, *, said: str) -> CommentReply:
    """A model's provider has not answered a batch yet, and nothing is wrong."""
    looks = (
        say("failures.batch_under_way.i_look_again")
        if commands.by_timer
        else say("failures.batch_under_way.with_the_next_job", again=commands.again)
    )
    words = escape.plain(said, 400)
    return reply_of("failures.batch_under_way", outcome=Outcome.WAITING, said=words, looks=looks)


def credit_used_up(commands: CommandNames, *, provider: str) -> CommentReply:
    """The account with the provider has no credit left; no wait helps."""
    return failure_of(
        "failures.credit_used_up",
        tone="warning",
        safe=_safe(commands),
        again=commands.again,
        provider=escape.plain(provider, 60),
    )


def model_down(commands: CommandNames, *, provider: str, said: str) -> CommentReply:
    """The provider does not answer."""
    return failure_of(
        "failures.model_down",
        tone="warning",
        said=escape.plain(said.removesuffix("."), 300),
        safe=_safe(commands),
        again=_once_more(commands, "failures.say_it_when_it_is_back"),
        provider=escape.plain(provider, 60),
    )


def git_down(commands: CommandNames, *, occasion: str, said: str) -> CommentReply:
    """The server of the repository failed, or could not be reached, while git spoke to it."""
    return failure_of(
        "failures.git_down",
        occasion,
        tone="warning",
        said=escape.code(said),
        safe=_safe(commands),
        again=_once_more(commands, "failures.say_it_in_some_minutes"),
    )


# -- GitHub refuses
# --------------------------------------------------------------------------------------------------


def not_taken(links: Links, commands: CommandNames, *, what: str, said: str) -> CommentReply:
    """GitHub answered 422: it does not accept the text or the object."""
    return failure_of(
        "failures.not_taken",
        said=escape.code(said, 300),
        folder=links.folder,
        again=commands.again,
        what=escape.plain(what, 80),
    )


def github_limited(commands: CommandNames, *, seconds: int | None) -> CommentReply:
    """GitHub's own rate limit, and in how many seconds it ends."""
    after = _once_more(commands, "failures.say_it_after_that")
    time, safe = in_time(seconds), _safe(commands)
    return failure_of("failures.github_limited", tone="warning", time=time, safe=safe, after=after)


def branch_protected(
    links: Links, commands: CommandNames, *, branch: str, said: str
) -> CommentReply:
    """A push was refused by a rule on the branch."""
    rules = say("failures.branch_protected.rules", repository=links.repository)
    way = (
        "failures.branch_protected.by_signature"
        if "signature" in said.lower()
        else "failures.branch_protected.let_it_push"
    )
    return failure_of(
        "failures.branch_protected",
        said=escape.code(said, 300),
        way=say(way, branch=escape.code(branch), rules=rules),
        unpushed=_unpushed(commands),
    )


def archived(links: Links, commands: CommandNames) -> CommentReply:
    """The repository is archived. Only the summary of the job says so: it takes no comment."""
    return failure_of(
        "failures.archived",
        outcome=Outcome.REFUSED,
        settings=f"{links.repository}/settings",
        again=commands.again,
    )


def may_not_push(links: Links, commands: CommandNames, *, said: str) -> CommentReply:
    """The token may not write to the repository at all."""
    return failure_of(
        "failures.may_not_push",
        outcome=Outcome.REFUSED,
        said=escape.code(said, 300),
        settings=links.settings,
        unpushed=_unpushed(commands),
    )


def _unpushed(commands: CommandNames) -> str:
    return say("failures.unpushed", again=commands.again)


def workflow_files(
    links: Links, commands: CommandNames, *, files: Sequence[str], patch: str, branch: str
) -> CommentReply:
    """A push was refused, or would be, because workflow files are in it. No workflow's own token
    may change them. `branch` is the one that is offered for merge, where the patch lies nowhere.
    """
    apply = (
        f"git fetch\ngit switch {branch}\n"
        f"git show {links.commit}:{links.workspace}/{patch} |\n"
        "  git apply --index --include='.github/workflows/*'\n"
        "git commit -m 'Change the workflows'\ngit push"
    )
    return reply_of(
        "failures.workflow_files",
        tone="important",
        named=first_files(files),
        patch=links.artifact(patch),
        commands=code_block(apply),
        status=commands.say("status"),
    )


def workflow_push_refused(links: Links, commands: CommandNames, *, said: str) -> CommentReply:
    """A push was refused because of workflow files that were not expected in it."""
    return failure_of(
        "failures.workflow_push_refused",
        said=escape.code(said, 300),
        folder=links.folder,
        again=commands.again,
    )


def checks_wait(*, pull_request: str) -> CommentReply:
    """GitHub holds the checks of a bot's pull request until somebody clicks."""
    return reply_of("failures.checks_wait", tone="important", pull_request=pull_request)


def record_not_kept(links: Links, *, run: str, branch: str, said: str) -> CommentReply:
    """The branch of records cannot be pushed, or somebody else made it."""
    return reply_of(
        "failures.record_not_kept",
        tone="warning",
        run=escape.code(run),
        branch=escape.code(branch),
        folder=links.folder,
        said=escape.code(said, 300),
        records=RECORD_BRANCHES[0],
    )


# -- the run itself
# --------------------------------------------------------------------------------------------------


def cancelled(commands: CommandNames) -> CommentReply:
    """The workflow run was ended from outside: by somebody, or by its time limit, which look the
    same from here.
    """
    retry, abandon = commands.say("retry"), commands.say("abandon")
    return failure_of("failures.cancelled", tone="note", retry=retry, abandon=abandon)


def no_sandbox(links: Links, commands: CommandNames) -> CommentReply:
    """The project's commands cannot be locked in on this runner."""
    if commands.by_timer:
        again = _once_more(commands, "failures.say_it_then")
        return failure_of(
            "failures.no_sandbox.on_the_worker", "no-sandbox", outcome=Outcome.REFUSED, again=again
        )
    then = _then(commands)
    return failure_of("failures.no_sandbox", outcome=Outcome.REFUSED, job=links.job, then=then)


def failed(error: ForgeError, links: Links, commands: CommandNames) -> CommentReply:
    """Any other error of the registry, in its own words: a worker may have chosen them, so nothing
    in them is a link.
    """
    details = "".join(f"- {escape.plain(each, 300)}\n" for each in error.details[:10])
    log = say("failures.failed.log", job=links.job) if links.job else ""
    advice = advice_in_thread(error, commands)
    again = (
        ""
        if isinstance(error.remedy, Resume)
        else say("failures.failed.then_say", again=commands.again)
    )
    return reply(
        error.code.lower(),
        escape.plain(f"{error.message[:1].upper()}{error.message[1:]}", 400),
        f"{details}\n{advice}{again}{log} <sub>{escape.code(error.code)}</sub>".lstrip(),
        tone="caution",
        reaction="confused",
        outcome=Outcome(error.exit_code),
    )


def unexpected(links: Links, commands: CommandNames) -> CommentReply:
    """An unexpected error."""
    log = (
        say("failures.unexpected.log", job=links.job)
        if links.job
        else say("failures.unexpected.with_the_log")
    )
    safe, again = _safe(commands), commands.again
    return failure_of("failures.unexpected", log=log, safe=safe, again=again)
