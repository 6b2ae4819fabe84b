"""Carry out the thread's commands on a run: each once, in the order in which they were written,
each reported to the run or answered.
"""

from collections.abc import Iterator
from datetime import datetime

from forge_bot.agent.redaction import Redactor
from forge_bot.bot import follow_ups
from forge_bot.bot.comment_writer import CommentWriter
from forge_bot.bot.comments import command_replies
from forge_bot.bot.comments.command_replies import reply_with_state
from forge_bot.bot.comments.reply import CommentReply, RunView, reply
from forge_bot.bot.job_context import JobContext, Wake
from forge_bot.bot.request_snapshot import Given, snapshot_request
from forge_bot.bot.thread import Thread, ThreadCommand, judge_approval
from forge_bot.engine.person_requirements import approved_with
from forge_bot.engine.reports import Answer, Answered, Report, RequestRefreshed, RetryAsked
from forge_bot.engine.state import State
from forge_bot.errors import CannotUpdate, ForgeError, RunEnded, StaleApproval
from forge_bot.forge import COMMENT_ANCHOR
from forge_bot.forge.types import Issue, PullState
from forge_bot.gate import grammar
from forge_bot.gate.parse_comment import split_lines
from forge_bot.git import blob_id
from forge_bot.interaction.command_names import CommandNames
from forge_bot.runs.branch_for_merge import target_of, update
from forge_bot.runs.request_draft import RequestDraft, title_of_run
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import Giver, report_of
from forge_bot.store.run_folder import render_request

_Carried = grammar.RunCommand | grammar.Start | grammar.Status | grammar.Refresh


def unseen(run: Run, thread: Thread) -> Iterator[ThreadCommand]:
    """Return the commands since the run began that are neither reported to it nor answered, so a
    lost event loses none. A question that is reported is done only once its answer is written.
    """
    begun = run.state.started_at.replace(microsecond=0)
    for spoken in thread.spoken_of(run):
        before = spoken.comment.created_at < begun
        reported = spoken.key in run.state.seen and not isinstance(spoken.command, grammar.Ask)
        if not before and not reported and not thread.answered(spoken.comment):
            yield spoken


def carry_out(
    run: Run,
    writer: CommentWriter,
    strike: Redactor,
    around: JobContext,
    closed: CommentReply | None,
) -> tuple[ThreadCommand, ...]:
    """Carry out all unseen commands, and return the questions that need a model. `closed` says why
    the run stands where its issue is closed.
    """
    questions: list[ThreadCommand] = []
    for spoken in tuple(unseen(run, writer.thread)):
        match spoken.command:
            case grammar.Ask():
                questions.append(spoken)
            case grammar.Help():
                # The gate answers it.
                pass
            case command:
                try:
                    said = _carried_out(run, command, spoken, writer, strike, around, closed)
                except ForgeError as error:
                    said = _refusal(error, command, writer.view(run), writer.commands)
                if said is not None:
                    writer.say(said, spoken)
                else:
                    writer.react(spoken.comment, "rocket")
    return tuple(questions)


def _carried_out(
    run: Run,
    command: _Carried,
    spoken: ThreadCommand,
    writer: CommentWriter,
    strike: Redactor,
    around: JobContext,
    closed: CommentReply | None,
) -> CommentReply | None:
    """Report a command to the run, and return the answer; None where a reaction says it all. Raises
    ForgeError.
    """
    if follow_ups.asks_for_more(run, spoken, writer.thread):
        return follow_ups.follow_command(run, spoken, writer, strike)
    match command:
        case grammar.Start(taken=(_, *_)) if not run.state.ended:
            return _refresh(run, spoken, writer, around)
        case grammar.Refresh():
            return _refresh(run, spoken, writer, around)
        case grammar.Start() if run.state.ended:
            return command_replies.ended_already(writer.view(run, closed))
        case grammar.Start():
            return reply_with_state("already_running", writer.view(run, closed))
        case grammar.Status():
            return command_replies.asked_for_status(writer.view(run, closed))
        case grammar.Update():
            return _update(run, spoken, writer)
        case command:
            # Pyright points here at a command that has neither a case nor a report.
            return _report(run, command, spoken, writer)


def _report(
    run: Run, command: grammar.RunCommand, spoken: ThreadCommand, writer: CommentWriter
) -> CommentReply | None:
    bare = command == grammar.Retry()
    if bare and run.state.gate is None and not run.state.ended:
        # There is nothing to report: the run simply continues.
        return reply_with_state("resumed", writer.view(run), by=spoken.by)
    at = spoken.comment.created_at
    giver = Giver(spoken.by, spoken.comment.url, spoken.key, at)
    approves = isinstance(command, grammar.Approve)
    version = _version(command, at, run.state) if approves else None
    report = report_of(run, command, giver, version)
    if report is None:
        return None
    if isinstance(report, Answered) and report.answer is Answer.APPROVE:
        outcome = judge_approval(run, writer.thread, spoken.by)
        if outcome.adds_nothing:
            given = {"awaited": outcome.awaited, "again": outcome.again}
            return reply("not_enough", commands=writer.commands, **given)
        report = report.replace(awaits_others=bool(outcome.awaited))
    run.tell(report)
    if isinstance(report, Answered) and report.awaits_others:
        writer.show_approvals(run)
    return _shown_back(spoken, report, writer)


def _shown_back(
    spoken: ThreadCommand, report: Report, writer: CommentWriter
) -> CommentReply | None:
    """Return what counted of a comment; None where that is plain."""
    unread = writer.thread.parsed(spoken.comment).unread
    words = ""
    match report:
        case Answered(answer=Answer.APPROVE):
            words = "\n".join(approved_with(report))
        case Answered() | RetryAsked():
            words = report.notes
        case _:
            pass
    line = split_lines(spoken.comment.body)[0] if unread else ""
    return command_replies.shown_back(writer.commands, line=line, words=words)


def _update(run: Run, spoken: ThreadCommand, writer: CommentWriter) -> CommentReply:
    """Merge the new commits of the base branch, unless the pull request is over."""
    pull = writer.thread.pull_request(run)
    if pull is not None and pull.state is not PullState.OPEN:
        raise CannotUpdate(f"The pull request is {pull.state.value} already.")
    at, via = spoken.comment.created_at, spoken.comment.url
    base = pull.base if pull is not None else target_of(run)
    report = update(run, key=spoken.key, at=at, by=spoken.by, via=via, base=base)
    if report is not None:
        run.tell(report)
    return reply_with_state("updated", writer.view(run), base=base)


def _refresh(run: Run, spoken: ThreadCommand, writer: CommentWriter, around: JobContext) -> None:
    """Freeze the issue as it was when the command came; the run's first commits do not change."""
    woken, thread = spoken.comment.id == around.wake.comment, writer.thread
    start = spoken.command if isinstance(spoken.command, grammar.Start) else grammar.Start()
    given = Given(
        around.step.payload if woken else "",
        spoken.comment,
        start.text,
        start.taken,
        run.request.taken,
    )
    issue = thread.forge.issue(thread.number)
    draft = snapshot_request(issue, thread, given, around.step.server)
    _report_request(run, draft, spoken)


def _report_request(run: Run, draft: RequestDraft, spoken: ThreadCommand) -> None:
    """Write a new request and report it to the run; keep the old one if the run refuses it. Raises
    ForgeError.
    """
    request = run.request.replace(
        title=draft.title,
        text=draft.text,
        labels=draft.labels,
        issue_type=draft.issue_type,
        attachments=draft.attachments,
        taken=draft.taken,
        unread=draft.unread,
    )
    for name, data in draft.files.items():
        run.workspace.write(name, data)
    before = run.workspace.read("request.md")
    raw = run.workspace.write("request.md", render_request(request))
    report = RequestRefreshed(
        key=spoken.key,
        at=spoken.comment.created_at,
        title=title_of_run(request.title),
        request_blob=blob_id(raw),
        request_hash=request.hash,
        by=spoken.by,
        via=spoken.comment.url,
    )
    try:
        run.tell(report)
    except ForgeError:
        run.workspace.write("request.md", before)
        raise


def _refusal(
    error: ForgeError, command: _Carried, view: RunView, commands: CommandNames
) -> CommentReply:
    """Return the reply to somebody whose command was refused."""
    match error:
        case StaleApproval() if view.state.gate is not None:
            given = command.digest or "" if isinstance(command, grammar.Approve) else ""
            return command_replies.stale_approval(view, view.state.gate, given=given)
        case RunEnded():
            return command_replies.ended_already(view)
        case _:
            return command_replies.cannot(commands, error)


# -- closed issues: a closing and the commands after it have their times on GitHub
# --------------------------------------------------------------------------------------------------


def stopped_by_closing(
    run: Run, issue: Issue, thread: Thread, commands: CommandNames, wake: Wake
) -> CommentReply | None:
    """Return what is said where the issue was closed and nobody asked for more since, by a command
    or the label; None if the run may go on.

    GitHub's times have whole seconds: a command of the same second does not count, as with a
    comment that somebody closes the issue with.
    """
    closed = issue.closed_at
    if closed is None or (wake.trigger == "label" and wake.operation == "start"):
        return None
    for spoken in thread.spoken_of(run):
        if spoken.comment.created_at > closed and not isinstance(spoken.command, grammar.TALK):
            return None
    answer = "" if run.state.gate is None else commands.say(run.state.gate.options[0])
    return reply("issue_closed", commands=commands, why=issue.state_reason, answer=answer)


def _version(command: grammar.Approve, at: datetime, state: State) -> str | None:
    """Return the version that an approval means; without a digest the last one that a comment
    before it showed. Raises StaleApproval.

    A version that only a terminal or a client has shown does not count, because nobody in the
    thread has read it. GitHub's times have whole seconds, and nobody reads a version within the
    second in which it is shown.
    """
    gate = state.gate
    if command.digest or gate is None or "approve" not in gate.options:
        return command.digest
    here = [
        showing.digest
        for showing in gate.shown
        if COMMENT_ANCHOR in showing.via and showing.at < at
    ]
    if not here:
        raise StaleApproval("What waits was not shown here before the approval was given.")
    return here[-1]
