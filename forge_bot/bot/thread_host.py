"""The supervisor as a host of one run: it asks in the thread and publishes with the job's token."""

from collections.abc import AsyncGenerator
from threading import Event
from uuid import uuid4

from forge_bot.bot.comment_writer import CommentWriter
from forge_bot.bot.publish_on_github import BranchPusher, Publication, unverified
from forge_bot.bot.thread import is_in_comment
from forge_bot.engine import Exec, PersonAction, State, WorkAction, no_reports
from forge_bot.engine.reports import Answer, Answered, ApprovalDoubted, Published, Report, head_of
from forge_bot.github_api import Forge
from forge_bot.interaction.merge_commit_message import who_answered
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now


class ThreadHost:
    """Asks in the thread and publishes; a worker runs agents and commands.

    After `cancelled` is set nothing more is begun. With `trust_local` an approval counts that was
    not given in the thread.
    """

    def __init__(
        self,
        run: Run,
        github: Forge,
        writer: CommentWriter,
        pusher: BranchPusher,
        cancelled: Event,
        *,
        trust_local: bool,
    ) -> None:
        self.run = run
        self.writer = writer
        self.publication = Publication(github, writer)
        self.pusher = pusher
        self.cancelled = cancelled
        self.trust_local = trust_local
        self._before = run.tree.head().commit

    def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
        """Leave the action to a worker, which opens the run once this process has closed it."""
        del state, action
        return no_reports()

    async def ask(self, state: State, action: PersonAction) -> AsyncGenerator[Report]:
        """Write the question into the thread; the answer wakes another job."""
        if self.cancelled.is_set():
            return
        gate = state.gate
        if gate is not None and Answer.POST in gate.options:
            # The question of another host, begun on this issue: the result is said here anyway.
            yield Answered(
                key=f"{action.action_id}/posted",
                at=now(),
                gate=gate.name,
                answer=Answer.SKIP,
                by="forge-bot",
                via="bot",
                action_id=action.action_id,
            )
        elif (shown := self.writer.ask(self.run)) is not None:
            yield shown

    async def publish(self, state: State, action: Exec) -> AsyncGenerator[Report]:
        """Publish on GitHub. If an approval cannot be verified, ask for it again instead."""
        del state
        if self.cancelled.is_set():
            return
        doubtful = None if self.trust_local else unverified(self.run, self.writer.thread)
        if action.operation == "pull-request" and doubtful is not None:
            who = who_answered(doubtful.by, doubtful.via)
            why = f"Approved by {who}; " + (
                "for what changed since, the rules on approvals ask for more people"
                if is_in_comment(self.run, self.writer.thread, doubtful)
                else "here it cannot be checked who that was"
            )
            yield ApprovalDoubted(key=f"doubt-{uuid4().hex}", at=now(), gate=doubtful.gate, why=why)
            return
        done = self.publication.publish(self.run, action.operation)
        yield Published(
            **head_of(action.action_id, now()),
            detail=done.detail,
            url=done.url,
            branch=done.branch,
        )

    async def record(self, report: Report, state: State) -> None:
        """Record the report and push it."""
        self.run.record(report, state)
        self.pusher.keep(self.run, self._before)
