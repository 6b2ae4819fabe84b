"""More work on a change whose pull request is open: what people ask for and failed checks begin it,
and one comment on the pull request tells of each to its end.
"""

from contextlib import suppress

from forge_bot.agent.redaction import Redactor
from forge_bot.bot.comment_writer import CommentWriter
from forge_bot.bot.comments.command_replies import EndOfFollowUp, follow_up_comment
from forge_bot.bot.comments.reply import CommentReply, RunView, reply
from forge_bot.bot.review_threads import (
    answer_threads,
    follow_ups_of,
    requested_changes,
    take_reviews,
)
from forge_bot.bot.thread import Thread, ThreadCommand
from forge_bot.engine.reports import FollowUpAsked
from forge_bot.errors import ReportRejected
from forge_bot.forge.types import FailedCheck, PullState
from forge_bot.gate import grammar
from forge_bot.git.commit_history import first_parents
from forge_bot.interaction.markers import read_marker
from forge_bot.runs.code_commits import RUN
from forge_bot.runs.frozen_attachments import freeze_attachments, unseen
from forge_bot.runs.publish_result import documents_of
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import Wanted, make_follow_up
from forge_bot.runs.this_process import now
from forge_bot.sentences import listed, say
from forge_bot.values import RunStatus

_MOST_CHECKS = 8
_FAILED = frozenset({"failure", "error"})
"""Conclusions that a change can fix. The others (cancelled, timed out, stale, never started) are
about the runner.
"""


def asks_for_more(run: Run, spoken: ThreadCommand, thread: Thread) -> bool:
    """Return whether a command asks for more work on the run's pull request."""
    pull, state = thread.pull_of(run), run.state
    if not pull or state.current_phase_status is RunStatus.ABANDONED:
        return False
    match spoken.command:
        case grammar.Start(text=text, taken=()):
            return bool(text) and spoken.number == pull
        case grammar.Reject():
            return state.gate is None
        case grammar.Retry(phase=None):
            return state.ended
        case _:
            return False


def follow_command(
    run: Run, spoken: ThreadCommand, writer: CommentWriter, strike: Redactor
) -> CommentReply | None:
    """Begin what somebody asks for; return the reply where that is nothing. Raises ForgeError."""
    _check_open(run, writer.thread)
    wanted = _wanted(run, spoken, writer)
    if isinstance(wanted, CommentReply):
        return wanted
    wanted = _with_attachments(wanted, writer, spoken.number)
    at, via = spoken.comment.created_at, spoken.comment.url
    run.tell(
        make_follow_up(run, wanted, key=spoken.key, at=at, by=spoken.by, via=via, strike=strike)
    )
    return None


def follow_failed_checks(run: Run, writer: CommentWriter, strike: Redactor) -> None:
    """Begin a round over the failed checks of the pull request if one can help. The same commit
    leads to one round, however often this is called.
    """
    key, checks = f"checks-{run.tree.head().commit}", _failed_checks(run, writer)
    if not isinstance(checks, CommentReply) and key not in run.state.seen:
        run.tell(make_follow_up(run, Wanted(checks=checks), key=key, at=now(), strike=strike))


def follow_reviews(run: Run, writer: CommentWriter, strike: Redactor) -> None:
    """Take what people who may give commands wrote in reviews, if one of them requested changes
    since reviews were taken. Strangers' words wait for a command.
    """
    thread = writer.thread
    pull = thread.pull_of(run)
    with suppress(ReportRejected):
        _check_open(run, thread)
        review = requested_changes(thread, pull, follow_ups_of(run))
        wanted = take_reviews(run, thread) if review is not None else Wanted()
        if review is None or not wanted.reviews:
            return
        wanted = _with_attachments(wanted, writer, pull)
        key, by, at = f"review:{review.id}", review.author.login, max(run.now(), review.at)
        run.tell(make_follow_up(run, wanted, key=key, at=at, by=by, via=review.url, strike=strike))


def _check_open(run: Run, thread: Thread) -> None:
    """Raise ReportRejected if the run's pull request was closed or merged."""
    pull = thread.pull_request(run)
    if pull is not None and pull.state is not PullState.OPEN:
        prefix = thread.inputs.prefix
        merged = (
            f"What is wrong with it now is a task of its own: `{prefix}` on an issue begins one."
        )
        closed = f"Reopen it first if it is to be changed, or begin anew with `{prefix}`."
        raise ReportRejected(
            f"The pull request is {pull.state.value} already.",
            hint=merged if pull.state is PullState.MERGED else closed,
        )


def _wanted(run: Run, spoken: ThreadCommand, writer: CommentWriter) -> Wanted | CommentReply:
    """Return what a command asks for, or the reply where that is nothing."""
    match spoken.command:
        case grammar.Start(text=text) if _takes_reviews(text):
            notes = text.partition("\n")[2].strip()
            taken = take_reviews(run, writer.thread, spoken.comment.created_at)
            if not (notes or taken.reviews):
                return reply("no_reviews", left=taken.left, commands=writer.commands)
            return taken._replace(notes=notes)
        case grammar.Start(text=notes) as command:
            plain = command == grammar.Start(notes)
            return Wanted(notes, left=() if plain else (say("bot.flags_unread"),))
        case grammar.Reject(notes=notes):
            return Wanted(notes)
        case grammar.Retry(notes=notes):
            checks = _failed_checks(run, writer)
            if isinstance(checks, CommentReply):
                return Wanted(notes) if notes else checks
            return Wanted(notes, checks)
        case _:
            raise TypeError(f"{spoken.command} asks for no change")


def _with_attachments(wanted: Wanted, writer: CommentWriter, number: int) -> Wanted:
    """Return what is wanted with what its words attach, and what of that no model sees."""
    server, forge = writer.around.step.server, writer.thread.forge
    frozen = freeze_attachments(wanted.words, server, lambda: forge.rendered(number))
    hidden = tuple(f"{item.label} ({item.unseen})" for item in unseen(frozen.attachments))
    left = (say("bot.unseen_here", names=listed(hidden[:_MOST_CHECKS])),) if hidden else ()
    return wanted._replace(attached=frozen, left=(*wanted.left, *left))


def _takes_reviews(text: str) -> bool:
    """Return whether the words of a command are `fix` alone."""
    return text.partition("\n")[0].strip().casefold() == "fix"


def _failed_checks(run: Run, writer: CommentWriter) -> tuple[FailedCheck, ...] | CommentReply:
    """Return the failed checks that a change can mend, or the reply where there are none."""
    pull = writer.thread.pull_of(run)
    failed = writer.thread.forge.failed_checks(pull)
    if ours := [check for check in failed if can_mend(check)]:
        return tuple(ours[:_MOST_CHECKS])
    named = [f"{check.name}: {check.conclusion}" for check in failed]
    address = writer.view(run).links.pull_request(pull)
    return reply("no_fix", commands=writer.commands, checks=named, pull_request=address)


def can_mend(check: FailedCheck) -> bool:
    """Return whether a change could make a check green: it ran to its end, and said something."""
    return check.conclusion in _FAILED and bool(check.log.strip() or check.summary.strip())


# -- the comment about each
# --------------------------------------------------------------------------------------------------


def show_follow_ups(run: Run, view: RunView, writer: CommentWriter) -> None:
    """Bring the comments about what was asked of the pull request up to date; those that told the
    end stay as they are.
    """
    thread, place = writer.thread, writer.thread.pull_of(run) or writer.thread.number
    for report in follow_ups_of(run):
        written = thread.written("reply", place, occasion="follow-up", to=report.key)
        marker = read_marker(written.body) if written is not None else None
        if marker is not None and "over" in marker.fields:
            continue
        end = _end_of(run, report) if run.state.ended else None
        if end is not None:
            answer_threads(run, report, end, view.links, writer)
        text = follow_up_comment(view, report, end)
        if written is None or not writer.edited(written, text):
            writer.write(place, text)


def _end_of(run: Run, report: FollowUpAsked) -> EndOfFollowUp:
    tip = run.code_so_far().tip
    made = tuple(
        commit
        for commit in first_parents(run.repository.root, report.head, tip)
        if dict(commit.trailers).get(RUN) == run.name
    )
    return EndOfFollowUp(head=tip, commits=made, documents=documents_of(run))
