"""`forge-bot work`: one step of a workflow, from the gate's outputs to the exit code. State,
comment, summary and exit code say the same.
"""

import signal
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from forge_bot.agent.redaction import secrets_of
from forge_bot.bot.comments.command_replies import reply_to_error
from forge_bot.bot.comments.reply import CommentReply, reply
from forge_bot.bot.comments.tracking_comment import exit_code, tracking
from forge_bot.bot.find_or_create_run import find_or_create_run
from forge_bot.bot.follow_ups import show_follow_ups
from forge_bot.bot.job_context import JobContext, begin, job_repository
from forge_bot.bot.job_handoff import (
    COMMITS,
    JobRequest,
    JobResult,
    delivered,
    handed,
    open_handed,
    perform_handed,
    set_up_handed,
)
from forge_bot.bot.record_work import WorkRecorder
from forge_bot.bot.supervised_worker import SupervisedWorker
from forge_bot.bot.supervisor import Ended, Supervisor, ended_by
from forge_bot.bot.worker_messages import WorkerStopped, as_error
from forge_bot.errors import BranchMoved, CommitsRefused, ForgeError, GitFailed
from forge_bot.forge import Forge, connect, show_error, show_notice, write_outputs, write_summary
from forge_bot.gate.messages import BEGUN
from forge_bot.gate.people import RequestedOperation
from forge_bot.interaction import markers
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.prompts.escape import BLANK
from forge_bot.runs.find_runs import RunInfo, resolve_run
from forge_bot.runs.open_run import look_at_run
from forge_bot.runs.this_process import Outcome
from forge_bot.sentences import say
from forge_bot.settings.config import load_config

_QUIET = frozenset({"cancelled"})
"""Ends that somebody wanted: the tracking comment shows them, and nobody is called."""


def work() -> int:
    """Start, continue the run, and report the outcome; return the exit code."""
    return _supervised(begin())


def publish(folder: Path | None, *, last: bool = False) -> int:
    """Run the supervisor without a worker on this machine: apply the result that another machine
    left in the folder, and hand over the next work.
    """
    return _supervised(begin(), apart=True, last=last, folder=folder)


def deliver(folder: Path) -> int:
    """Run the worker's part on a separate machine: perform the handed work, and leave it in the
    folder. The publishing job reports the outcome.
    """
    around = begin()
    wanted = handed(around.environ)
    repository, commits = job_repository(around), list[str]()
    worker = SupervisedWorker(repository, around, lambda _run, commit: commits.append(commit))
    with _stopped_by_signals(worker.cancel):
        result = perform_handed(repository, worker, wanted, commits, folder)
    show_notice(f"delivered: {len(result.commits)} commits for {wanted.branch}")
    return 0


def prepare() -> int:
    """Set up the project's environment for handed work, without a model, for the cache from which
    workers have it.
    """
    around = begin()
    wanted = handed(around.environ)
    if set_up_handed(job_repository(around), wanted):
        write_outputs(around.step.outputs, {"prepared": "true"})
    return 0


def _supervised(
    around: JobContext, *, apart: bool = False, last: bool = False, folder: Path | None = None
) -> int:
    with connect(around.step.repository, around.step.token, around.step.api) as forge:
        visit = _Visit(around, forge, folder)
        return visit.report(*visit.carry_on(apart=apart, last=last))


class _Visit:
    """One start of the bot: the supervisor's work, and its result in words."""

    def __init__(self, around: JobContext, forge: Forge, folder: Path | None) -> None:
        self.folder = folder
        self.around = around
        self.forge = forge
        self.commands = around.commands
        self.supervisor: Supervisor | None = None
        self.info: RunInfo | None = None
        self._pull_request = ""
        self._reply: CommentReply | None = None

    def carry_on(self, *, apart: bool, last: bool) -> Ended:
        """Return the result of the job, whatever happened."""
        try:
            repository = job_repository(self.around)
            config = load_config(repository.root)
            self.supervisor = Supervisor(
                repository, config, self.forge, self.around, apart=apart, last=last
            )
            with _stopped_by_signals(self.supervisor.cancel):
                return self._perform(self.supervisor)
        except ForgeError as error:
            branch = self.info.branch if self.info is not None else ""
            return ended_by(reply_to_error(error, self._links(), self._words(), branch))
        # Nobody reads the log of a job that ended without a word in the thread.
        except Exception:  # noqa: BLE001
            traceback.print_exc()
            return ended_by(reply("unexpected", links=self._links(), commands=self._words()))

    def _words(self) -> CommandNames:
        """Return the command names; before a run is on GitHub, to try again is to start."""
        begun = (
            self.supervisor is not None
            and self.info is not None
            and self.info.branch in self.supervisor.repository.remote_branches()
        )
        begins = not begun and self.around.wake.operation == RequestedOperation.START
        return self.commands.replace(repeat=self.commands.prefix) if begins else self.commands

    def _perform(self, supervisor: Supervisor) -> Ended:
        if self.folder is None:
            self.info = find_or_create_run(supervisor)
        else:
            wanted = handed(self.around.environ)
            self.info = open_handed(supervisor.repository, wanted)
            if (ended := _received(supervisor, self.info, wanted, self.folder)) is not None:
                return ended
        return (Outcome.DONE, None) if self.info is None else supervisor.carry_on(self.info)

    def _links(self) -> Links:
        if self.supervisor is not None and self.info is not None:
            return self.supervisor.writer.links(self.info)
        return self.around.links()

    def report(self, outcome: Outcome, reply: CommentReply | None) -> int:
        """The last words, in tracking comment, thread, summary and log; the exit code."""
        text = self._track(reply) or (reply.text if reply is not None else "")
        self._reply = reply
        failed = exit_code(outcome) != 0
        if reply is not None:
            with suppress(ForgeError):
                written = failed and self._complain(reply)
                if self.info is None:
                    self._replace_beginning(reply, written=written)
        write_summary(self.around.step.summary, text)
        write_outputs(self.around.step.outputs, self._outputs(outcome))
        if reply is not None and failed:
            show_error(reply.headline.replace(BLANK, ""))
        return exit_code(outcome)

    def _complain(self, reply: CommentReply) -> bool:
        """Mention people, unless they caused it on purpose, have an answer already, or did nothing
        now.

        Return whether the reply is in a comment of its own. Nobody can be mentioned if comments are
        refused.
        """
        answered = self.supervisor.writer.occasions if self.supervisor is not None else ()
        wake = self.around.wake
        if wake.by == self.around.inputs.policy.own and self._is_said(reply):
            return True
        if reply.occasion in _QUIET or reply.occasion in answered or wake.again:
            return reply.occasion in answered
        try:
            self.forge.comment(wake.issue, reply.comment())
        except ForgeError:
            return False
        return True

    def _is_said(self, reply: CommentReply) -> bool:
        """Return whether the thread was told of this problem before: a schedule meets it again."""
        thread = self.supervisor.thread if self.supervisor is not None else None
        return thread is not None and thread.written("reply", occasion=reply.occasion) is not None

    def _replace_beginning(self, reply: CommentReply, *, written: bool) -> None:
        """Replace the comment that says that a run has begun, because none has.

        The reply is written there, unless it is `written` in a comment of its own.
        """
        wake = self.around.wake
        if wake.operation != RequestedOperation.START or wake.tracking_comment is None:
            return
        for comment in self.forge.comments(wake.issue):
            if comment.id == wake.tracking_comment and comment.body.startswith(BEGUN):
                text = say("gate.not_begun") if written else reply.alert()
                mark = markers.tracking("", str(wake.issue))
                self.forge.edit_comment(comment.id, f"{text}\n\n{mark}")

    def _outputs(self, outcome: Outcome) -> dict[str, str]:
        """Return the outputs of the step.

        `handed` is the work for a worker on another machine. The others are for a worker of
        Temporal: `occasion` names the problem, and `seconds` is the time until it may be over.
        """
        handed_over = self.supervisor.handed if self.supervisor is not None else None
        return {
            "outcome": outcome.name.lower() if handed_over is None else "working",
            "issue": str(self.around.wake.issue),
            "branch": self.info.branch if self.info is not None else "",
            "pull-request": self._pull_request,
            "occasion": self._reply.occasion if self._reply is not None else "",
            "seconds": str(self._reply.seconds or "") if self._reply is not None else "",
            **({"handed": handed_over.model_dump_json()} if handed_over is not None else {}),
        }

    def _track(self, reply: CommentReply | None) -> str:
        """Bring the tracking comment up to date, and return it; empty without a run."""
        if self.supervisor is None or self.info is None:
            return ""
        try:
            with self.supervisor.opened(
                resolve_run(self.supervisor.repository, self.info.branch)
            ) as run:
                view = self.supervisor.writer.view(run, reply)
                self._pull_request = run.state.pull_request
                with suppress(ForgeError):
                    show_follow_ups(run, view, self.supervisor.writer)
        except ForgeError:
            return ""
        with suppress(ForgeError):
            self.supervisor.writer.track(view)
        return tracking(view)


def _received(
    supervisor: Supervisor, info: RunInfo, handed: JobRequest, folder: Path
) -> Ended | None:
    """Apply the result in the folder; return how the run ended, None if it can continue.

    Raises NothingDelivered, CommitsRefused.
    """
    result = delivered(folder)
    try:
        if result.commits:
            _record(supervisor, info, handed, result, folder)
    except (BranchMoved, CommitsRefused) as error:
        supervisor.reopen_as_pushed(info)
        if isinstance(error, CommitsRefused):
            raise
    return _answer(supervisor, info, handed, result) or _end_of(supervisor, info, result.stopped)


def _record(
    supervisor: Supervisor, info: RunInfo, handed: JobRequest, result: JobResult, folder: Path
) -> None:
    """Record the delivered files, and push them. Raises CommitsRefused."""
    try:
        supervisor.repository.open_bundle(folder / COMMITS)
    except GitFailed as error:
        details = (error.message,)
        raise CommitsRefused("The worker's commits could not be read.", details=details) from error
    with supervisor.opened(info) as run:
        # Somebody pushed in the meantime: their commits count, and our work is done again from
        # there.
        if run.tree.commit_id() != handed.commit:
            return
        recorder = WorkRecorder(run, secrets_of(supervisor.around.environ))
        for commit in result.commits:
            recorder.record(commit)
        run.tree.take_in(recorder.head)
        supervisor.pusher.push(run.tree, recorder.head)


def _answer(
    supervisor: Supervisor, info: RunInfo, handed: JobRequest, result: JobResult
) -> Ended | None:
    """Post the answers to these questions; return the end of the job if one could not be given."""
    if not handed.questions:
        return None
    # Opening the run might commit, and nobody would push that.
    run = look_at_run(supervisor.repository, info, supervisor.config)
    keys = {question.key for question in handed.questions} & result.answers.keys()
    asked = [one for one in supervisor.thread.spoken_of(run) if one.key in keys]
    ends = [supervisor.answered(info, one, result.answers[one.key]) for one in asked]
    return next((end for end in ends if end is not None), None)


def _end_of(supervisor: Supervisor, info: RunInfo, stopped: WorkerStopped) -> Ended | None:
    if stopped.cancelled:
        return Outcome.FAILED, reply("cancelled", commands=supervisor.commands)
    error = as_error(stopped) if stopped.code else None
    if error is None or isinstance(error, BranchMoved):
        return None
    return ended_by(supervisor.trouble(info, stopped))


@contextmanager
def _stopped_by_signals(stop: Callable[[], None]) -> Generator[None]:
    """Call `stop` on SIGINT and SIGTERM, which is how a job is cancelled (the runner sends the
    first, and the second 7.5 s later).
    """

    def stop_soon(_number: int, _frame: FrameType | None) -> None:
        stop()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, stop_soon) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
