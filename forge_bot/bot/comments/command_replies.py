"""Answers to commands in the thread: one constructor for each occasion, each with the way out."""

from collections.abc import Sequence

from forge_bot.bot.comments.next_step import next_move, pull_request_link
from forge_bot.bot.comments.phase_table import phases
from forge_bot.bot.comments.reply import (
    CommentReply,
    first_files,
    refusal_of,
    reply,
    reply_of,
)
from forge_bot.bot.comments.run_view import RunView
from forge_bot.bot.comments.tracking_comment import facts
from forge_bot.engine.state import Decision, OpenGate
from forge_bot.errors import ForgeError, PermissionMissing
from forge_bot.gate.arguments import names_version
from forge_bot.gate.help import help_text
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.fit_comment import Paper, PapersPart, compose
from forge_bot.interaction.remedy_words import advice_in_thread, remedy_for_people
from forge_bot.interaction.run_facts import decided
from forge_bot.prompts import escape
from forge_bot.remedies import ShowStatus
from forge_bot.runs.steps.finding_issues import ISSUES, IssueResult
from forge_bot.sentences import listed, say
from forge_bot.text_format import code_block
from forge_bot.values import PhaseId, RunStatus

_MOST_SHOWN = 2_000
"""Characters of somebody's words that are shown back."""
_MOST_NAMES = 20
"""The phases of a pipeline, or other names that a command could have meant, that are listed."""


def no_run(commands: CommandNames, *, label: str) -> CommentReply:
    """A command where nothing was begun."""
    prefix = escape.code(commands.prefix)
    return refusal_of("replies.no_run", label=escape.code(label), prefix=prefix)


def branch_gone(commands: CommandNames, *, tracking: str) -> CommentReply:
    """A command to a run whose branch somebody deleted; `tracking` is the address of its tracking
    comment.
    """
    retry, prefix = commands.say("retry"), escape.code(commands.prefix)
    return refusal_of("replies.branch_gone", tracking=tracking, retry=retry, prefix=prefix)


def no_budget(view: RunView) -> CommentReply:
    """More money or tokens for a run that nothing limits."""
    return refusal_of("replies.no_budget", now=_now(view), prefix=view.commands.prefix)


def already_running(view: RunView) -> CommentReply:
    """A start where a run is under way."""
    abandon = view.commands.say("abandon")
    return refusal_of(
        "replies.already_running", branch=view.branch, now=_now(view), abandon=abandon
    )


def ended_already(view: RunView) -> CommentReply:
    """A command to a run that is over."""
    detail = next_move(view).text
    if view.state.current_phase_status is not RunStatus.ABANDONED:
        again = say("replies.ended_already.detail", prefix=escape.code(view.commands.prefix))
        detail = f"{detail}\n\n{again}"
    return reply(
        "ended-already", say("replies.ended_already.headline"), detail, reaction="confused"
    )


# -- answers that do not count
# --------------------------------------------------------------------------------------------------


def nothing_to_answer(view: RunView, *, answer: str) -> CommentReply:
    """An answer while no question is open."""
    status, named = view.commands.say("status"), escape.plain(answer, 20)
    return refusal_of("replies.nothing_to_answer", now=_now(view), status=status, answer=named)


def stale_approval(view: RunView, gate: OpenGate, *, given: str = "") -> CommentReply:
    """An approval of another text than the one that waits."""
    named = (
        say("replies.stale_approval.it_names", given=escape.code(given, 16))
        if given
        else say("replies.stale_approval.it_came_before")
    )
    # The address is that of the question asked last, which may have shown an older version.
    where = (
        say("replies.stale_approval.read_it", question=view.links.question)
        if view.links.question and gate.shown[-1].digest == gate.digest
        else say("replies.stale_approval.read_it_in_the_newest")
    )
    # A beginning that fits another version too names none: then the whole digest is asked for.
    digest = gate.digest if names_version(given, gate.digest) else short(gate.digest)
    detail = say(
        "replies.stale_approval.detail", named=named, digest=escape.code(digest), where=where
    )
    answer = code_block(view.commands.say("approve", digest))
    return reply(
        "stale-approval",
        say("replies.stale_approval.headline"),
        f"{detail}\n\n{answer}",
        tone="warning",
        reaction="confused",
    )


def already_answered(view: RunView, decision: Decision) -> CommentReply:
    """A second answer to the same question."""
    retry = view.commands.say("retry", _phase_before(view, decision.gate))
    return refusal_of(
        "replies.already_answered",
        label=view.label(decision.gate),
        answered=decided(decision),
        now=_now(view),
        back=say("replies.already_answered.back", retry=retry),
    )


def not_offered(view: RunView, gate: OpenGate, *, answer: str) -> CommentReply:
    """An answer that the open question does not take."""
    offered = [
        f"`{view.commands.form(option, gate.digest)}`"
        for option in dict.fromkeys((*gate.options, "abandon"))
    ]
    return refusal_of(
        "replies.not_offered", answer=escape.code(answer, 30), offered=listed(offered, "words.or")
    )


def notes_missing(commands: CommandNames) -> CommentReply:
    """A rejection without a reason."""
    return refusal_of("replies.notes_missing", reject=commands.form("reject"))


def taken(commands: CommandNames, *, line: str, words: str, unread: bool) -> CommentReply | None:
    """Show back what counted of a comment: the words of a person, and whether text below them was
    not read. Return None where there is nothing to show.
    """
    left_out = say(
        "replies.taken.unread",
        line=escape.code(line, _MOST_SHOWN),
        condition=commands.say("approve", "with …"),
    )
    shown = escape.fenced(words[:_MOST_SHOWN]) if words else ""
    detail = "\n\n".join(part for part in (shown, left_out if unread else "") if part)
    return (
        reply("taken", say("replies.taken.headline"), detail, reaction="rocket") if detail else None
    )


# -- being told, and asked
# --------------------------------------------------------------------------------------------------


def asked_for_help(view: RunView | None, commands: CommandNames) -> CommentReply:
    """All commands, in the words of the grammar, after the state of the run."""
    now = f"{_now(view)}\n\n" if view is not None else ""
    table = help_text(commands.prefix, bare=commands.short)
    return reply("help", say("replies.asked_for_help.headline"), f"{now}{table}")


def asked_for_status(view: RunView) -> CommentReply:
    """Return the state of the run."""
    return reply("status", next_move(view).headline, f"{next_move(view).detail}\n\n{facts(view)}")


def asked_for_cost(view: RunView) -> CommentReply:
    """Return the cost of the run, phase by phase."""
    return reply(
        "cost",
        say("replies.asked_for_cost.headline"),
        compose([facts(view), phases(view)], 30_000).rstrip(),
    )


def resumed(view: RunView, *, by: str) -> CommentReply:
    """A stopped run continues."""
    return reply_of("replies.resumed", "resumed", "rocket", now=_now(view), by=escape.code(by))


def cannot(commands: CommandNames, error: ForgeError) -> CommentReply:
    """A command that the run does not take now, in the words of the error."""
    status = (
        ""
        if isinstance(remedy_for_people(error), ShowStatus)
        else say("replies.cannot.status", status=commands.say("status"))
    )
    details = "".join(f"- {escape.line(each, 200)}\n" for each in error.details[:_MOST_NAMES])
    detail = f"{details}\n{advice_in_thread(error, commands)}{status}".strip()
    return reply("cannot", escape.line(error.message, 300), detail, reaction="confused")


def answered(text: str, question: str) -> CommentReply:
    """Return a model's answer to a question about the run, below the question."""
    paper = PapersPart([Paper(name="answer", text=text, url="", open=True)])
    return reply(
        "answer",
        say("replies.answered.headline"),
        f"{escape.fenced(question[:_MOST_SHOWN])}\n\n{compose([paper], 40_000).rstrip()}",
    )


def fixing(view: RunView, *, checks: Sequence[str], round_: int, most: int) -> CommentReply:
    """Checks of the pull request failed, and the run works on them, or asks a person after the last
    round.
    """
    named, now = listed([escape.code(name, 60) for name in checks[:5]]), _now(view)
    if round_ > most:
        return reply_of(
            "replies.fixing.after_the_last", "fixing", "rocket", count=most, named=named, now=now
        )
    return reply_of(
        "replies.fixing", "fixing", "rocket", named=named, round=round_, most=most, now=now
    )


def updated(view: RunView, *, base: str, conflicts: Sequence[str]) -> CommentReply:
    """The base was merged into the run; `conflicts` are files that both changed differently."""
    name, now = escape.code(base, 60), _now(view)
    if conflicts:
        named = listed([escape.code(path, 100) for path in conflicts[:5]])
        return reply_of(
            "replies.updated.conflict", "updated", "rocket", name=name, named=named, now=now
        )
    return reply_of("replies.updated", "updated", "rocket", name=name, now=now)


def up_to_date(view: RunView, *, base: str) -> CommentReply:
    """The base has nothing that the run lacks."""
    return reply_of("replies.up_to_date", name=escape.code(base, 60), now=_now(view))


def no_fix(view: RunView, *, checks: Sequence[str], pull_request: str) -> CommentReply:
    """No check of the pull request failed in a way that another change could mend."""
    if not checks:
        retry = view.commands.say("retry", _example(view))
        return reply_of("replies.no_fix.without_checks", "no-fix", retry=retry)
    named = listed([escape.code(name, 80) for name in checks[:5]])
    number = pull_request.rpartition("/")[2]
    link = f"[{say('words.pull_request', number=number)}]({pull_request})"
    return reply_of("replies.no_fix", named=named, pull_request=link)


def _example(view: RunView) -> str:
    """The phase that people go back to most: the one whose document is approved first."""
    plan = view.pipeline.approved_first
    return plan.id if plan is not None else view.pipeline.speaking[0].id


def used_up(commands: CommandNames) -> CommentReply:
    """There is more to do, and this run of the workflow starts no further worker."""
    return reply_of("replies.used_up", tone="important", retry=commands.say("retry"))


def pull_request_by_hand(view: RunView, error: ForgeError, *, url: str) -> CommentReply:
    """GitHub did not let us open the pull request: how a person does, and what a maintainer can
    change for the next time.
    """
    match error:
        case PermissionMissing(own_hint=hint) if hint:
            why = say("replies.pull_request_by_hand.not_allowed", settings=view.links.settings)
        case PermissionMissing(details=(needed, *_)):
            lacking = escape.code(needed.replace("_", "-"), 80)
            why = say("replies.pull_request_by_hand.permission_missing", lacking=lacking)
        case _:
            said = escape.code(error.message, 300)
            why = say("replies.pull_request_by_hand.in_the_way", said=said)
    offered = escape.code(view.offered)
    return reply_of(
        "replies.pull_request_by_hand", tone="warning", why=why, url=url, offered=offered
    )


def issues_opened(results: Sequence[IssueResult]) -> CommentReply:
    """The issues for findings, opened now or there already."""
    lines = [
        f"- [{escape.plain(each.title)}]({each.url})"
        + ("" if each.opened else say("replies.issues_opened.was_there"))
        for each in results
    ]
    opened = sum(each.opened for each in results)
    headline = (
        say("replies.issues_opened.headline", count=opened)
        if opened
        else say("replies.issues_opened.nothing_new")
    )
    return reply("issues-opened", headline, "\n".join(lines))


def issues_by_hand(view: RunView, *, said: str) -> CommentReply:
    """GitHub did not let us open the issues."""
    words, issues = escape.code(said, 300), view.links.named(ISSUES)
    return reply_of("replies.issues_by_hand", tone="warning", said=words, issues=issues)


def pull_request_over(view: RunView, *, merged: bool) -> CommentReply:
    """The pull request was merged or closed, and there are commits that it does not have."""
    return reply_of(
        "replies.pull_request_over.merged" if merged else "replies.pull_request_over.closed",
        "pull-request-over",
        tone="warning",
        pull_request=pull_request_link(view),
        branch=view.branch,
        compare=view.compare(view.state.branch),
    )


def people_in_conflict(view: RunView, *, files: Sequence[str], aside: str) -> CommentReply:
    """People changed the pull request's branch in another way than the run did."""
    merge = f"git fetch\ngit switch {view.offered}\ngit pull\ngit merge origin/{aside}"
    return reply_of(
        "replies.people_in_conflict",
        tone="warning",
        named=first_files(files),
        branch=escape.code(view.offered),
        aside=escape.code(aside),
        compare=view.links.compare(view.offered, aside),
        commands=code_block(merge),
    )


def _now(view: RunView) -> str:
    move = next_move(view)
    return f"{move.headline} {move.detail.partition(chr(10))[0]}".strip()


def _phase_before(view: RunView, gate: PhaseId) -> str:
    phase = view.pipeline.phase(gate)
    return getattr(phase, "sends_back_to", "") or view.state.current_phase
