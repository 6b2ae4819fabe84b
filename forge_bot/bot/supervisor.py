"""The supervisor: it holds the token, and runs no model and no project command. It reads the
thread, reports to the run, lets a worker work, records the result, pushes, and writes the comments.
"""

import asyncio
from contextlib import AbstractContextManager, suppress
from functools import partial
from threading import Event

from forge_bot.agent.models.known_providers import missing_key
from forge_bot.agent.redaction import redactor
from forge_bot.bot import follow_ups, thread_commands
from forge_bot.bot.comment_writer import CommentWriter, expected_cost, unseen_text
from forge_bot.bot.comments import command_replies
from forge_bot.bot.comments.reply import CommentReply, reply
from forge_bot.bot.job_context import JobContext
from forge_bot.bot.job_handoff import JobRequest, question_of, request_work
from forge_bot.bot.supervised_worker import SupervisedWorker, tell_jobs
from forge_bot.bot.thread import Thread, ThreadCommand
from forge_bot.bot.thread_host import BranchPusher, ThreadHost, known_tip, refuse_unseen
from forge_bot.bot.worker_messages import WorkerStopped, as_error
from forge_bot.engine import Done, Exec, PersonAction, SpawnAgent, WriteFile, drive
from forge_bot.errors import BranchMoved, GitFailed
from forge_bot.forge import WAKE_WORKFLOW, Forge
from forge_bot.forge.types import PullState
from forge_bot.gate.grammar import Ask
from forge_bot.git import Repository
from forge_bot.git.commits import find_key, try_key
from forge_bot.git.revisions import ENDED
from forge_bot.runs.branch_for_merge import keep_run, take_peoples_commits
from forge_bot.runs.find_runs import RunInfo, resolve_run
from forge_bot.runs.models_and_prompts import leaves_batches
from forge_bot.runs.open_run import open_run
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import remove_branch
from forge_bot.runs.this_process import Outcome, outcome_of
from forge_bot.settings.approvals import read_code_owners
from forge_bot.settings.config import Config
from forge_bot.values import RunStatus, Tier

MOST_TURNS = 60
"""Between worker and publications; a run that needs more goes round in circles."""

_TOLD_ONCE = frozenset({"cap-reached", "switched-off"})
"""The pauses that a person may want to end: a comment tells of them, and not only the progress."""

Ended = tuple[Outcome, CommentReply | None]


def ended_by(reply: CommentReply) -> Ended:
    """The end of a job that a reply describes: text for people and exit code belong together."""
    return reply.outcome or Outcome.FAILED, reply


class Supervisor:
    """Continues one run as far as possible without a person."""

    def __init__(
        self,
        repository: Repository,
        config: Config,
        forge: Forge,
        around: JobContext,
        *,
        apart: bool = False,
        last: bool = False,
    ) -> None:
        """Make the supervisor. `apart`: a worker on another machine gets what is `handed`; after
        the `last` supervisor none follows, and people are told how to go on.
        """
        self.repository = repository
        self.config = config
        self.forge = forge
        self.around = around
        self.inputs = inputs = around.inputs
        self.apart = apart
        self.last = last
        self.handed: JobRequest | None = None
        self.commands = around.commands.replace(
            # The key of a worker on another machine is not known here.
            asks=apart or missing_key(config.model_for(Tier.STANDARD)) is None,
            woken=config.wakes.enabled and (repository.root / WAKE_WORKFLOW).is_file(),
        )
        # The tree is that of the default branch: no run's branch changes who approves it.
        owners = read_code_owners(repository.root)
        self.thread = Thread(forge, around.wake.issue, inputs, config.approvals, owners)
        tip = partial(known_tip, repository)
        tracked = around.wake.tracking_comment
        self.writer = CommentWriter(self.thread, self.commands, around, tip, tracked)
        self.shift = SupervisedWorker(repository, around, self._push_work)
        # Read first of all: an issue that is gone or went elsewhere is left alone.
        self.issue = forge.issue(around.wake.issue)
        self.strike = redactor(around.environ)
        self.pusher = BranchPusher()
        self.cancelled = Event()

    def cancel(self) -> None:
        """Stop soon: the job is being cancelled."""
        self.cancelled.set()
        self.shift.cancel()

    def opened(self, info: RunInfo) -> AbstractContextManager[Run]:
        """The run, held by this process."""
        return open_run(self.repository, info, self.config)

    # -- the whole
    # ----------------------------------------------------------------------------------------------

    def carry_on(self, info: RunInfo) -> Ended:
        """Report people's commands to the run, and perform until a person is needed, something
        fails, or all is done.
        """
        tell_jobs(self.repository, self.around.environ)
        for _ in range(MOST_TURNS):
            try:
                ended = self._turn(info)
            except BranchMoved:
                # Somebody else pushed first. What they did counts; ours is done again from there.
                info = self.reopen_as_pushed(info)
                continue
            if self.cancelled.is_set():
                return ended_by(reply("cancelled", commands=self.commands))
            if ended is not None:
                return ended
        raise GitFailed(
            f"{info.branch} does not come to rest.",
            hint="Look at the branch: something changes it again and again.",
        )

    def _turn(self, info: RunInfo) -> Ended | None:
        refuse_unseen(self.repository, info.branch)
        with self.opened(info) as run:
            before = run.tree.head().commit
            self._get_acquainted(run)
            if isinstance(run.action, PersonAction | Done):
                take_peoples_commits(run)
            closed = self._stopped_by_closing(run)
            questions = thread_commands.carry_out(
                run, self.writer, self.strike, self.around, closed
            )
            closed = self._stopped_by_closing(run)
            if closed is None:
                self._look_at_pull(run)
            follow_ups.show_follow_ups(run, self.writer.view(run), self.writer)
            self.pusher.keep(run, before)
            if not questions:
                if not run.state.ended and closed is not None:
                    self.writer.say_once(closed, run.name)
                    return ended_by(closed)
                _, action = asyncio.run(drive(run.pipeline, run.state, self._host(run)))
                if not isinstance(action, SpawnAgent | WriteFile | Exec):
                    if self.apart or not leaves_batches(run):
                        return self._rested(run, action)
                elif self.cancelled.is_set():
                    return None
            self.writer.track(self.writer.view(run))
        return self._let_work(info, questions)

    def _host(self, run: Run) -> ThreadHost:
        trusted = self.around.trust_local
        return ThreadHost(run, self.writer, self.pusher, self.cancelled, trust_local=trusted)

    def _get_acquainted(self, run: Run) -> None:
        if not self.writer.estimate:
            self.writer.estimate = expected_cost(run)
        self.writer.unread = run.request.unread
        self.writer.removed = unseen_text(run)

    def _stopped_by_closing(self, run: Run) -> CommentReply | None:
        wake = self.around.wake
        return thread_commands.stopped_by_closing(run, self.issue, self.thread, self.commands, wake)

    def _look_at_pull(self, run: Run) -> None:
        """Handle failed checks of the pull request, or reviews that request changes. Checks that no
        change can fix are not mentioned.
        """
        trigger = self.around.wake.trigger
        over = run.state.current_phase_status is RunStatus.COMPLETED
        if trigger not in {"checks", "dispatch"} or not (over and self.thread.pull_of(run)):
            return
        self.around = self.around.replace(wake=self.around.wake.replace(trigger=""))
        follow = (
            follow_ups.follow_failed_checks if trigger == "checks" else follow_ups.follow_reviews
        )
        follow(run, self.writer, self.strike)

    def reopen_as_pushed(self, info: RunInfo) -> RunInfo:
        """Reopen the run as somebody else pushed it; our own commits are kept under a ref."""
        self.repository.fetch()
        self.thread.look_again()
        tree = self.repository.tree_of(info.branch)
        if tree is not None:
            tree.give_way()
        return resolve_run(self.repository, info.branch)

    def _rested(self, run: Run, action: PersonAction | Done) -> Ended:
        """Return the result of a run that waits for a person or has ended."""
        over = isinstance(action, Done) and action.outcome != "abandoned"
        if over and self.pusher.changed and run.state.pull_request:
            self._host(run).refresh()
        if isinstance(action, Done):
            self._keep_record(run)
        if over and run.state.pull_request:
            self._host(run).set_evidence_status()
        view = self.writer.view(run)
        self.writer.track(view)
        follow_ups.show_follow_ups(run, view, self.writer)
        return outcome_of(action), None

    def _keep_record(self, run: Run) -> None:
        """Store the record of a run that is over, or tell people why that failed."""
        trouble = keep_run(run, push=True)
        if not trouble:
            self._remove_branches(run)
        else:
            self.writer.say_once(
                reply(
                    "record_not_kept",
                    links=self.writer.view(run).links,
                    run=run.name,
                    branch=run.state.branch,
                    records=f"{ENDED}{run.name}",
                    message=trouble,
                )
            )

    def _remove_branches(self, run: Run) -> None:
        """Remove the branches of a run whose pull request is closed; its record has all of it."""
        offered = run.state.pull_request_branch
        pull = self.forge.pull_request_for(offered) if self.thread.pull_of(run) else None
        if offered and pull is not None and pull.state is not PullState.OPEN:
            for branch in (offered, run.state.branch):
                remove_branch(self.repository, run.name, branch)

    # -- the worker's
    # ----------------------------------------------------------------------------------------------

    def _let_work(self, info: RunInfo, questions: tuple[ThreadCommand, ...]) -> Ended | None:
        """Let a worker answer a question, or perform the run; None if the run can be opened
        again.

        Raises BadSigningKey before anything is paid for.
        """
        key = find_key(self.repository.root, self.around.environ, wanted=self.config.sign)
        if key is not None:
            try_key(self.repository.root, key)
        if self.apart:
            # Opening may put work on the code branch; the other job begins after that.
            with self.opened(info) as run:
                self.pusher.keep(run, run.tree.commit_id())
                self.handed = request_work(run, questions)
            return Outcome.WAITING, reply("used_up", commands=self.commands) if self.last else None
        for spoken in questions:
            stopped = self.shift.work(info, question_of(spoken))
            if self.cancelled.is_set():
                return None
            if (ended := self.answered(info, spoken, stopped)) is not None:
                return ended
        if questions:
            return None
        stopped = self.shift.work(info)
        self.thread.look_again()
        # Nothing is published for an issue that was closed meanwhile.
        self.issue = self.forge.issue(self.thread.number)
        return ended_by(self.trouble(info, stopped)) if stopped.code else None

    def trouble(self, info: RunInfo, stopped: WorkerStopped, *, repeat: str = "") -> CommentReply:
        """Return the reply about the end of a worker. That it waits for a batch or is paused, or
        that its time is used up, is no failure only where the record or a limit of time says so.
        """
        links, commands = self.writer.links(info), self.commands.replace(repeat=repeat)
        said = command_replies.reply_to_error(as_error(stopped), links, commands, info.branch)
        if said.outcome is Outcome.WAITING:
            with self.opened(info) as run:
                action, batch = run.action, run.state.flags.batch
                agrees = run.state.pause is not None or (
                    isinstance(action, SpawnAgent)
                    and run.pipeline.in_batches(action.phase, batch=batch)
                )
                if said.occasion in _TOLD_ONCE and not repeat:
                    self.writer.say_once(said, run.name)
        else:
            agrees = said.outcome is not Outcome.BUDGET or self.config.run_seconds is not None
        return said if agrees else said.replace(outcome=Outcome.FAILED)

    def answered(
        self, info: RunInfo, spoken: ThreadCommand, stopped: WorkerStopped
    ) -> Ended | None:
        """Answer a question. If the model could not be asked, say so in the thread, and end the
        job.
        """
        if stopped.answer:
            question = spoken.command.question if isinstance(spoken.command, Ask) else ""
            self.writer.say(command_replies.answered(stopped.answer, question), spoken)
            return None
        trouble = self.trouble(info, stopped, repeat=f"{self.commands.say('ask')} …")
        self.writer.say(trouble, spoken)
        return ended_by(trouble)

    # -- keeping
    # ----------------------------------------------------------------------------------------------

    def _push_work(self, run: Run, commit: str) -> None:
        """Push a commit of a worker's files, and show the progress. An agent that is next learns of
        limits and of what other runs have paid meanwhile.
        """
        self.pusher.push(run.tree, commit)
        if isinstance(run.action, SpawnAgent):
            with suppress(GitFailed):
                self.repository.fetch()
        self.writer.track(self.writer.view_at(run.state, run.pipeline, commit))
        before, self.issue = self.issue, self.forge.issue(self.thread.number)
        if self.issue.closed_at not in {None, before.closed_at}:
            self.shift.stop_after_this()
