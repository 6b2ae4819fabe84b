"""Replies for problems: what happened, what is safe, and what somebody can do. One
constructor for each occasion.
"""

from collections.abc import Sequence

from forge_bot.bot.comments.reply import CommentReply
from forge_bot.errors import ForgeError
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.interaction.folds import Tone
from forge_bot.interaction.number_format import in_time, listed, several
from forge_bot.interaction.remedy_words import advice_in_thread
from forge_bot.prompts import escape
from forge_bot.remedies import Resume
from forge_bot.runs.outcome import Outcome
from forge_bot.store import RECORD_BRANCHES

_SAFE = "Nothing is lost: everything up to here is on the branch."


def _failed(
    occasion: str,
    headline: str,
    detail: str,
    *,
    outcome: Outcome = Outcome.FAILED,
    tone: Tone = "caution",
) -> CommentReply:
    return CommentReply(
        occasion=occasion,
        headline=headline,
        detail=detail,
        tone=tone,
        reaction="confused",
        outcome=outcome,
    )


def _then(commands: CommandNames) -> str:
    return (
        "Then say"
        f" `{commands.again}`{'' if commands.repeat else '; nothing that was done is done again'}."
    )


def _safe(commands: CommandNames) -> str:
    """Nothing is said of a branch where it is not the run that has to be tried again."""
    return "" if commands.repeat else f"{_SAFE} "


# -- the model
# --------------------------------------------------------------------------------------------------


def key_missing(links: Links, commands: CommandNames, *, secret: str) -> CommentReply:
    """No key for the model."""
    where = (
        f"A maintainer can [add the secret]({links.secrets}) {escape.code(secret)} and hand it to"
        " the workflow."
    )
    return _failed(
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
    return _failed(
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
        f"{when} {_safe(commands)}Say `{commands.again}` {'then' if until else 'in some minutes'}."
    )
    return _failed(
        "rate-limited",
        f"{escape.plain(provider, 60)} lets me ask no more for now.",
        detail,
        tone="warning",
    )


def batch_under_way(commands: CommandNames, *, said: str) -> CommentReply:
    """A model's provider has not answered a batch yet, and nothing is wrong."""
    detail = (
        f"{escape.line(said, 400)} Providers answer within a day, mostly within an hour. I look"
        f" again with the next job that is started here: say `{commands.again}`."
    )
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
    return _failed(
        "credit-used-up",
        f"The account with {escape.plain(provider, 60)} is used up.",
        detail,
        tone="warning",
    )


def model_down(commands: CommandNames, *, provider: str, said: str) -> CommentReply:
    """The provider does not answer."""
    what = escape.line(said.removesuffix("."), 300)
    detail = f"{what}. {_safe(commands)}Say `{commands.again}` when it is back."
    return _failed(
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
    return _failed("not-taken", f"GitHub did not take {escape.plain(what, 80)}.", detail)


def github_limited(commands: CommandNames, *, seconds: int | None) -> CommentReply:
    """GitHub's own rate limit, and in how many seconds it ends."""
    detail = (
        f"The limit is lifted {in_time(seconds)}. {_safe(commands)}Say `{commands.again}` after"
        " that."
    )
    return _failed(
        "github-limited", "GitHub lets me write no more for now.", detail, tone="warning"
    )


def branch_protected(
    links: Links, commands: CommandNames, *, branch: str, said: str
) -> CommentReply:
    """A push was refused by a rule on the branch."""
    rules = f"[branch rules]({links.repository}/settings/rules)"
    way = (
        f"My commits are not signed. A maintainer can leave {escape.code(branch)} out of that rule"
        f" in the {rules}; the default branch can keep it, since GitHub signs what a squash merge"
        " makes."
        if "signature" in said.lower()
        else f"A maintainer can let this workflow push to {escape.code(branch)} in the {rules}."
    )
    detail = f"GitHub's words: {escape.code(said, 300)}. {way} {_unpushed(commands)}"
    return _failed("branch-protected", "The push was refused: the branch is protected.", detail)


def may_not_push(links: Links, commands: CommandNames, *, said: str) -> CommentReply:
    """The token may not write to the repository at all."""
    detail = (
        f"GitHub's words: {escape.code(said, 300)}. The job needs `contents: write` under"
        " `permissions:` in its workflow file, or, with a token of your own, one that may write;"
        f" for organisations see also [Settings, Actions, General]({links.settings})."
        f" {_unpushed(commands)}"
    )
    return _failed(
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
    return _failed(
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


# -- the thread changes under the run
# --------------------------------------------------------------------------------------------------


def comment_deleted(*, what: str) -> CommentReply:
    """A comment of the bot is gone."""
    detail = (
        "So here is a new one. What was decided is kept with the run, not in comments; only what is"
        " open is asked again."
    )
    return CommentReply(
        occasion="comment-deleted",
        headline=f"Somebody deleted {escape.plain(what, 60)}.",
        detail=detail,
    )


def issue_locked(links: Links) -> CommentReply:
    """Nobody can write into the thread. Said in the summary and in the log, the only places
    left.
    """
    detail = (
        "I cannot ask or answer there, so I stop before anything that needs a decision. Unlock the"
        " issue and put the label on again, or go on at a terminal. Everything so far is [on the"
        f" branch]({links.folder})."
    )
    return _failed("issue-locked", "The issue is locked.", detail, outcome=Outcome.REFUSED)


def issue_transferred(links: Links, *, to: str) -> CommentReply:
    """The issue belongs to another repository now."""
    detail = (
        f"It is now {escape.line(to, 200)}. The work so far stays [here]({links.folder}); to begin"
        " there, put the label on there."
    )
    return _failed(
        "issue-transferred",
        "The issue was moved to another repository.",
        detail,
        outcome=Outcome.REFUSED,
    )


def issue_gone(links: Links) -> CommentReply:
    """The issue was deleted, or cannot be seen any more."""
    detail = (
        f"I stopped. Everything so far is [on the branch]({links.folder}); `forge-bot resume` at a"
        " terminal goes on with it."
    )
    return _failed(
        "issue-gone",
        "The issue is gone, or I may not see it any more.",
        detail,
        outcome=Outcome.REFUSED,
    )


def label_removed(commands: CommandNames, *, label: str) -> CommentReply:
    """The label that started the run was taken off while it was at work: a wish to stop."""
    detail = (
        f"I take that as “stop”, and have stopped after the step that was under way. {_SAFE}"
        f" `{commands.say('retry')}` or the label goes on from here, `{commands.say('abandon')}`"
        " ends the run."
    )
    return _failed(
        "label-removed",
        f"Somebody took the label {escape.code(label)} off.",
        detail,
        tone="note",
        outcome=Outcome.WAITING,
    )


def repository_renamed(commands: CommandNames, *, old: str, new: str) -> CommentReply:
    """The repository has another name now."""
    detail = (
        "GitHub forwards the old addresses, and the run goes on as it was. If something looks"
        f" lost, say `{commands.again}`."
    )
    return CommentReply(
        occasion="repository-renamed",
        headline=f"{escape.code(old)} is {escape.code(new)} now.",
        detail=detail,
    )


def request_edited(
    links: Links, commands: CommandNames, *, issue: bool = True, comments: Sequence[str] = ()
) -> CommentReply:
    """The issue was edited after somebody had asked for a run of it, or comments were edited, which
    do not count then.

    GitHub does not tell us by whom.
    """
    detail = (
        f"I work on [the text as it was when I was asked]({links.artifact('request.md')}). If the"
        f" newer one should count, say `{commands.say('refresh')}`, and I begin again with it."
    )
    named = "".join(f"\n- [comment {url.rpartition('-')[2]}]({url})" for url in comments[:10])
    left_out = (
        "These comments were edited, so I left them out. To have one count, write it anew"
        f" first:\n{named}"
        if comments
        else ""
    )
    headline = (
        "The issue was edited after I was asked to work on it."
        if issue
        else "Comments were edited, so I left them out."
    )
    return CommentReply(
        occasion="request-edited",
        headline=headline,
        detail="\n\n".join(part for part in (detail, left_out) if part),
    )


def edited_since(*, command: str) -> CommentReply:
    """Title or text of the issue were edited after the command, and what stood there before is not
    known.
    """
    return CommentReply(
        occasion="edited-since",
        headline="The issue was edited after you said that, so I did not take its text.",
        detail=(
            "Nothing was changed. I cannot see what you read. Please look at the issue as it is"
            f" now. If it is right, say `{command}` again."
        ),
        tone="warning",
        reaction="confused",
        outcome=Outcome.WAITING,
    )


def label_ignored(
    commands: CommandNames, *, labels: Sequence[tuple[str, str]], role: str
) -> CommentReply:
    """Labels that modify a run, each with who added it, and none of those people could approve."""
    named = "".join(
        f"\n- {escape.code(name)}, added by"
        f" {escape.code(by) if by else 'an account that GitHub does not name'}"
        for name, by in labels
    )
    detail = (
        f"Such a label counts only from a person with the role {escape.plain(role)} or higher who"
        f" added it without an app.\n{named}\n\nTo have it count, such a person says"
        f" `{commands.say('abandon')}`, and then `{commands.prefix}` with `--auto` or `--effort`."
    )
    return CommentReply(
        occasion="label-ignored",
        headline="I ignored labels of people who may not approve.",
        detail=detail,
        tone="note",
    )


def asked_too_much(commands: CommandNames, *, notes: Sequence[str]) -> CommentReply:
    """The task names something that cannot be delivered from here, or not as wished; said before
    money is spent.
    """
    said = "".join(f"\n- {escape.line(note, 400)}" for note in notes[:5])
    detail = f"I have begun all the same; `{commands.say('abandon')}` ends it.\n{said}"
    return CommentReply(
        occasion="asked-too-much",
        headline="Before I spend anything: one thing will not go as wished.",
        detail=detail,
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
    return _failed(
        "cancelled", "The workflow run was ended before I was done.", detail, tone="note"
    )


def no_sandbox(links: Links, commands: CommandNames) -> CommentReply:
    """The project's commands cannot be locked in on this runner."""
    detail = (
        "I run a project's commands only behind walls, and could not build them here. The runner"
        " needs bubblewrap with user namespaces, or Landlock (Linux 6.12), which GitHub's"
        f" `ubuntu-24.04` has. The log of [this workflow run]({links.job}) says what was missing."
        f" {_then(commands)}"
    )
    return _failed("no-sandbox", "This runner has no sandbox.", detail, outcome=Outcome.REFUSED)


def failed(error: ForgeError, links: Links, commands: CommandNames) -> CommentReply:
    """Any other error of the registry, in its own words."""
    details = "".join(f"\n- {escape.line(each, 300)}" for each in error.details[:10])
    log = f" The [log]({links.job}) has more." if links.job else ""
    advice = advice_in_thread(error, commands)
    again = "" if isinstance(error.remedy, Resume) else f" Then say `{commands.again}`."
    return _failed(
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
    return _failed(
        "unexpected",
        "Something went wrong that should not.",
        f"{log} {_safe(commands)}`{commands.again}` tries again.",
    )
