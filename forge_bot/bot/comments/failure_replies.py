"""Replies for problems: what happened, what is safe, and what somebody can do. One
constructor for each occasion.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.reply import WORK_IS_SAFE, CommentReply, failure_reply
from forge_bot.errors import ForgeError
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.number_format import in_time
from forge_bot.interaction.remedy_words import advice_in_thread
from forge_bot.prompts import escape
from forge_bot.remedies import Resume
from forge_bot.runs.outcome import Outcome
from forge_bot.sentences import listed
from forge_bot.store import RECORD_BRANCHES
from forge_bot.wording import several


def _then(commands: CommandNames) -> str:
    return (
        "Then say"
        f" `{commands.again}`{'' if commands.repeat else '; nothing that was done is done again'}."
    )


def _safe(commands: CommandNames) -> str:
    """Nothing is said of a branch where it is not the run that has to be tried again."""
    return "" if commands.repeat else f"{WORK_IS_SAFE} "


def _once_more(commands: CommandNames, when: str) -> str:
    """Return who tries again what goes away by itself, and when."""
    if commands.by_timer and not commands.repeat:
        return "I try again by myself."
    return f"Say `{commands.again}` {when}."


# -- the model
# --------------------------------------------------------------------------------------------------


def key_missing(links: Links, commands: CommandNames, *, secret: str) -> CommentReply:
    """No key for the model."""
    where = (
        f"A maintainer can [add the secret]({links.secrets}) {escape.code(secret)} and hand it to"
        " the workflow."
    )
    return failure_reply(
        "key-missing",
        "I have no key for the model.",
        f"{where} {_then(commands)}",
        outcome=Outcome.REFUSED,
    )


def key_refused(
    links: Links, commands: CommandNames, *, provider: str, secret: str
) -> CommentReply:
    """The provider does not take the key."""
    detail = (
        "It may be old, mistyped, or not allowed to use this model. A maintainer can"
        f" [renew]({links.secrets}) {escape.code(secret)}. {_then(commands)}"
    )
    return failure_reply(
        "key-refused",
        f"{escape.plain(provider, 60)} does not accept the key.",
        detail,
        outcome=Outcome.REFUSED,
    )


def rate_limited(commands: CommandNames, *, provider: str, until: str = "") -> CommentReply:
    """The provider wants fewer questions. `until` says when it lets somebody ask again: `in 14
    minutes`.
    """
    when = (
        f"It says to come back {escape.plain(until, 60)}; that is longer than I wait here."
        if until
        else "I asked several times, with pauses."
    )
    detail = (
        f"{when} {_safe(commands)}{_once_more(commands, 'then' if until else 'in some minutes')}"
    )
    return failure_reply(
        "rate-limited",
        f"{escape.plain(provider, 60)} lets me ask no more for now.",
        detail,
        tone="warning",
    )


def batch_under_way(commands: CommandNames, *, said: str) -> CommentReply:
    """A model's provider has not answered a batch yet, and nothing is wrong."""
    looks = (
        "I look again by myself."
        if commands.by_timer
        else f"I look again with the next job that is started here: say `{commands.again}`."
    )
    answered = "Providers answer within a day, mostly within an hour."
    detail = f"{escape.line(said, 400)} {answered} {looks}"
    return CommentReply(
        occasion="batch-under-way",
        headline="The model answers in a batch, at half the price.",
        detail=detail,
        outcome=Outcome.WAITING,
    )


def credit_used_up(commands: CommandNames, *, provider: str) -> CommentReply:
    """The account with the provider has no credit left; no wait helps."""
    detail = (
        "Its quota or credit is used up. Somebody who has the account can raise it."
        f" {_safe(commands)}Then say `{commands.again}`."
    )
    return failure_reply(
        "credit-used-up",
        f"The account with {escape.plain(provider, 60)} is used up.",
        detail,
        tone="warning",
    )


def model_down(commands: CommandNames, *, provider: str, said: str) -> CommentReply:
    """The provider does not answer."""
    what = escape.line(said.removesuffix("."), 300)
    detail = f"{what}. {_safe(commands)}{_once_more(commands, 'when it is back')}"
    return failure_reply(
        "model-down", f"{escape.plain(provider, 60)} could not be asked.", detail, tone="warning"
    )


# -- GitHub refuses
# --------------------------------------------------------------------------------------------------


def not_taken(links: Links, commands: CommandNames, *, what: str, said: str) -> CommentReply:
    """GitHub answered 422: it does not take what was to be written."""
    detail = (
        f"Its words: {escape.code(said, 300)}. The documents are [on the branch]({links.folder}) as"
        f" they are. Say `{commands.again}` to have me try again."
    )
    return failure_reply("not-taken", f"GitHub did not take {escape.plain(what, 80)}.", detail)


def github_limited(commands: CommandNames, *, seconds: int | None) -> CommentReply:
    """GitHub's own rate limit, and in how many seconds it ends."""
    after = _once_more(commands, "after that")
    detail = f"The limit is lifted {in_time(seconds)}. {_safe(commands)}{after}"
    return failure_reply(
        "github-limited", "GitHub lets me write no more for now.", detail, tone="warning"
    )


def branch_protected(
    links: Links, commands: CommandNames, *, branch: str, said: str
) -> CommentReply:
    """A push was refused by a rule on the branch."""
    rules = f"[branch rules]({links.repository}/settings/rules)"
    way = (
        "My commits for merge are signed where the workflow gives me a `signing-key`, those of a"
        f" run never. Otherwise a maintainer can leave {escape.code(branch)} out of that rule in"
        f" the {rules}; the default branch can keep it, since GitHub signs what a squash merge"
        " makes."
        if "signature" in said.lower()
        else f"A maintainer can let this workflow push to {escape.code(branch)} in the {rules}."
    )
    detail = f"GitHub's words: {escape.code(said, 300)}. {way} {_unpushed(commands)}"
    return failure_reply(
        "branch-protected", "The push was refused: the branch is protected.", detail
    )


def may_not_push(links: Links, commands: CommandNames, *, said: str) -> CommentReply:
    """The token may not write to the repository at all."""
    detail = (
        f"GitHub's words: {escape.code(said, 300)}. The job needs `contents: write` under"
        " `permissions:` in its workflow file, or, with a token of your own, one that may write;"
        f" for organisations see also [Settings, Actions, General]({links.settings})."
        f" {_unpushed(commands)}"
    )
    return failure_reply(
        "may-not-push",
        "The push was refused: this workflow may not push.",
        detail,
        outcome=Outcome.REFUSED,
    )


def _unpushed(commands: CommandNames) -> str:
    return (
        f"Then say `{commands.again}`: I go on from what is on the branch; what could not be pushed"
        " is done again."
    )


def workflow_files(
    links: Links, commands: CommandNames, *, files: Sequence[str], patch: str
) -> CommentReply:
    """A push was refused, or would be, because workflow files are in it. No workflow's own token
    may change them.
    """
    unnamed = files[5:]
    named = listed([escape.code(path) for path in files[:5]]) + (
        f" and {several(len(unnamed), 'more file')}" if unnamed else ""
    )
    detail = (
        f"GitHub lets no workflow change workflows, and this change touches {named}. That part is"
        f" [a patch]({links.artifact(patch)}), and all else is done without it. On this branch,"
        " somebody can say\n\n```text\ngit apply --include='.github/workflows/*'"
        f" {links.workspace}/{patch}\n```\n\nthen commit and push it. `{commands.say('status')}`"
        " says where I am meanwhile."
    )
    return CommentReply(
        occasion="workflow-files",
        headline="One part of this change is yours to push.",
        detail=detail,
        tone="important",
    )


def workflow_push_refused(links: Links, commands: CommandNames, *, said: str) -> CommentReply:
    """A push was refused because of workflow files that were not expected in it."""
    detail = (
        f"GitHub's words: {escape.code(said, 300)}. GitHub lets no workflow change workflows. The"
        f" work so far is [on the branch]({links.folder}); after a maintainer has brought those"
        f" files in, say `{commands.again}`."
    )
    return failure_reply(
        "workflow-push-refused", "The push was refused: workflow files are in it.", detail
    )


def checks_wait(*, pull_request: str) -> CommentReply:
    """GitHub holds the checks of a bot's pull request until somebody clicks."""
    detail = (
        f"GitHub waits with checks on pull requests of bots. On [the pull request]({pull_request}),"
        " “Approve and run” starts them."
    )
    return CommentReply(
        occasion="checks-wait",
        headline="The checks need one click of yours.",
        detail=detail,
        tone="important",
    )


def record_not_kept(links: Links, *, run: str, branch: str, said: str) -> CommentReply:
    """The branch of records cannot be pushed, or somebody else made it."""
    detail = (
        f"The record of {escape.code(run)} stays on {escape.code(branch)}: keep that branch, or the"
        f" [documents]({links.folder}) go with it and later runs do not recall this one."
        f" What stood in the way: {escape.code(said, 300)}"
    )
    return CommentReply(
        occasion="record-not-kept",
        headline=f"The branch {RECORD_BRANCHES[0]} does not have the record of this run.",
        detail=detail,
        tone="warning",
    )


# -- the run itself
# --------------------------------------------------------------------------------------------------


def cancelled(commands: CommandNames) -> CommentReply:
    """The workflow run was ended from outside: by somebody, or by its time limit, which look the
    same from here.
    """
    detail = (
        "Somebody cancelled it, or its time was up. What was under way is done again, the rest is"
        f" on the branch. `{commands.say('retry')}` goes on, `{commands.say('abandon')}` ends it."
    )
    return failure_reply(
        "cancelled", "The workflow run was ended before I was done.", detail, tone="note"
    )


def no_sandbox(links: Links, commands: CommandNames) -> CommentReply:
    """The project's commands cannot be locked in on this runner."""
    walls = "I run a project's commands only behind walls, and could not build them here."
    needs = "bubblewrap with user namespaces, or Landlock (Linux 6.12)"
    detail = (
        f"{walls} The runner needs {needs}, which GitHub's `ubuntu-24.04` has. The log of [this"
        f" workflow run]({links.job}) says what was missing. {_then(commands)}"
    )
    headline = "This runner has no sandbox."
    if commands.by_timer:
        headline = "The worker's machine has no sandbox."
        detail = (
            f"{walls} The machine needs {needs}; `forge-bot doctor` says there what is missing."
            f" {_once_more(commands, 'then')}"
        )
    return failure_reply("no-sandbox", headline, detail, outcome=Outcome.REFUSED)


def failed(error: ForgeError, links: Links, commands: CommandNames) -> CommentReply:
    """Any other error of the registry, in its own words."""
    details = "".join(f"\n- {escape.line(each, 300)}" for each in error.details[:10])
    log = f" The [log]({links.job}) has more." if links.job else ""
    advice = advice_in_thread(error, commands)
    again = "" if isinstance(error.remedy, Resume) else f" Then say `{commands.again}`."
    return failure_reply(
        error.code.lower(),
        escape.line(error.message, 400),
        f"{advice}{again}{log}"
        f" <sub>{escape.code(error.code)}</sub>{f'{chr(10)}{details}' if details else ''}",
        outcome=Outcome(error.exit_code),
    )


def unexpected(links: Links, commands: CommandNames) -> CommentReply:
    """Something nobody thought of."""
    log = (
        f"The [log]({links.job}) has the details; please report it with them."
        if links.job
        else "Please report it with the log."
    )
    return failure_reply(
        "unexpected",
        "Something went wrong that should not.",
        f"{log} {_safe(commands)}`{commands.again}` tries again.",
    )
