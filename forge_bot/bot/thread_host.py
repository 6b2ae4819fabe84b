"""The supervisor as a host of one run: it asks in the thread, and publishes with the job's token.

Commits of ours are pushed by their ids and nothing that came after them; the pull request is kept
up to date; the last comment is in the thread.
"""

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager, suppress
from threading import Event
from uuid import uuid4

from forge_bot.bot.comment_writer import CommentWriter
from forge_bot.bot.comments import command_replies
from forge_bot.bot.comments.reply import RunView, pull_request_link, reply
from forge_bot.bot.thread import Thread, are_enough, is_in_comment
from forge_bot.engine import Exec, PersonAction, State, WorkAction, no_reports
from forge_bot.engine.gates import AUTO, approvals_of
from forge_bot.engine.phases import GatePhase
from forge_bot.engine.reports import Answer, Answered, ApprovalDoubted, Published, Report, head_of
from forge_bot.engine.state import Decision, Reason
from forge_bot.errors import (
    BranchMoved,
    GitFailed,
    GitHubRefused,
    PermissionMissing,
    PushRefusal,
    PushRefused,
)
from forge_bot.forge.json_values import read_json
from forge_bot.forge.types import NewPullRequest, PullState
from forge_bot.git import Repository, Tree
from forge_bot.git.remotes import fetch_branch
from forge_bot.interaction.commit_links import short
from forge_bot.interaction.merge_commit_message import who_answered
from forge_bot.interaction.pull_request import PullRequestText, pull_request
from forge_bot.runs.branch_for_merge import Offer, offer, push_aside, push_run, target_of
from forge_bot.runs.evidence_of_run import EVIDENCE, covers
from forge_bot.runs.publish_result import PublishResult, customs_of, documents_of, publish_result
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import is_kept
from forge_bot.runs.this_process import now

EVIDENCE_STATUS = "forge-bot/evidence"
"""The name of the status at the head of a pull request."""


def unverified(run: Run, thread: Thread) -> Decision | None:
    """Return the newest approval of a checkpoint that has no comment here by an authorised person,
    or that the rules of `approvals` find too few for the paths that changed, unless it was
    confirmed since.

    The record names who approved and where, but whoever can push to the branch can write that. So
    the comment itself is required.
    """
    gates = {phase.id for phase in run.pipeline.phases if isinstance(phase, GatePhase)}
    approved = [one for one in run.state.decisions if one.answer == Answer.APPROVE]
    newest = {one.gate: one for one in approved if one.reason is None}
    for decision in reversed(approved):
        again = decision.reason is Reason.UNVERIFIED_APPROVAL
        by_auto = decision.via == AUTO and run.state.flags.auto
        ours = by_auto or is_in_comment(run, thread, decision)
        judged = again or decision is newest.get(decision.gate)
        enough = not judged or are_enough(run, thread, decision)
        if again and ours and enough:
            return None
        if decision.reason is None and decision.gate in gates and not (ours and enough):
            return decision
    return None


class BranchPusher:
    """Pushes the commits of one job, and remembers whether there were any."""

    def __init__(self) -> None:
        self.changed = False

    def push(self, tree: Tree, commit: str) -> None:
        """Push one commit and its ancestors to the branch, never by force.

        The local branch may have moved on since the commit was made; later commits are not pushed.
        Raises BranchMoved where somebody else was faster, GitFailed for all else.
        """
        self.changed = True
        with _behind():
            tree.push(commit=commit)

    def keep(self, run: Run, before: str) -> None:
        """Push all recorded reports; `before` is the commit at which the run was opened."""
        run.keep()
        head = run.tree.head().commit
        # A branch that people deleted comes back only with something new.
        kept = is_kept(run.repository, run.name, head, at_origin=True)
        if head != before or (run.tree.unpushed() and not kept):
            self.push(run.tree, head)


@contextmanager
def _behind() -> Generator[None]:
    """Raise BranchMoved for a push where somebody else was faster."""
    try:
        yield
    except PushRefused as error:
        if error.why is PushRefusal.BEHIND:
            raise BranchMoved(error.message) from error
        raise


def known_tip(repository: Repository, branch: str) -> str:
    """Return the newest commit of a branch that the remote has, as far as is known here; empty if
    it has none.
    """
    with suppress(GitFailed):
        return repository.commit_id(f"refs/remotes/origin/{branch}")
    return ""


def refuse_unseen(repository: Repository, branch: str) -> None:
    """Raise BranchMoved if there are local commits that the remote does not have: a worker may
    have made them.

    A branch that the remote does not know at all has only been begun, and no worker has seen it.
    """
    tree = repository.tree_of(branch)
    if tree is not None and branch in repository.remote_branches() and tree.unpushed():
        raise BranchMoved(
            f"Commits of {branch} were found here that nobody looked at; they are put aside."
        )


class ThreadHost:
    """Asks in the thread and publishes; a worker runs agents and commands.

    After `cancelled` is set nothing more is begun. With `trust_local` an approval counts that was
    not given in the thread.
    """

    def __init__(
        self,
        run: Run,
        writer: CommentWriter,
        pusher: BranchPusher,
        cancelled: Event,
        *,
        trust_local: bool,
    ) -> None:
        self.run = run
        self.writer, self.thread, self.forge = writer, writer.thread, writer.thread.forge
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
        doubtful = None if self.trust_local else unverified(self.run, self.thread)
        if action.operation == "pull-request" and doubtful is not None:
            who = who_answered(doubtful.by, doubtful.via)
            why = f"Approved by {who}; " + (
                "for what changed since, the rules on approvals ask for more people"
                if is_in_comment(self.run, self.thread, doubtful)
                else "here it cannot be checked who that was"
            )
            yield ApprovalDoubted(key=f"doubt-{uuid4().hex}", at=now(), gate=doubtful.gate, why=why)
            return
        done = self._published(action.operation)
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

    def _published(self, operation: str) -> PublishResult:
        """Publish; return a sentence and the address of the result.

        Raises BranchMoved, GitFailed.
        """
        match operation:
            case "pull-request":
                return self._pull_request()
            case "post-to-source":
                self.writer.track(self.writer.view(self.run))
                return PublishResult(detail="the result is in the thread")
            case _:
                offered = self._offered()
                detail = f"the last commit of {self.run.state.branch} is on its way"
                return publish_result(offered, detail)

    def _offered(self) -> Offer:
        """Update the branch for merge here and at GitHub, and return it."""
        offered = offer(self.run)
        if offered.branch and self._wanted(offered):
            # The run's branch and the one for merge, both or none, by their commits.
            with _behind():
                push_run(self.run, offered)
            if offered.conflicts:
                view, aside = self.writer.view(self.run), push_aside(self.run, offered)
                self.writer.say_once(
                    reply(
                        "people_in_conflict",
                        files=offered.conflicts,
                        branch=view.offered,
                        aside=aside,
                        compare=view.links.compare(view.offered, aside),
                    )
                )
        return offered

    def _wanted(self, offered: Offer) -> bool:
        """Return whether the pull request can take further commits; if not, tell people where the
        commits are.
        """
        name = self.run.state.pull_request_branch
        known = self.thread.pull_of(self.run)
        pull = self.forge.pull_request_for(name) if name and known else None
        if pull is None or pull.state is PullState.OPEN:
            return True
        if not self.run.repository.contains(pull.head_sha, offered.tip):
            view = self.writer.view(self.run)
            self.writer.say_once(
                reply(
                    "pull_request_over",
                    state=pull.state.value,
                    pull_request=pull_request_link(view),
                    branch=view.branch,
                    compare=view.compare(view.state.branch),
                )
            )
        return False

    def refresh(self) -> None:
        """Update an open pull request's text, and mark it as ready once verification is green. One
        that a person opened keeps the person's words.
        """
        pull = self.thread.pull_request(self.run)
        own = self.thread.inputs.policy.own.casefold()
        if pull is None or pull.state is not PullState.OPEN or pull.author.login.casefold() != own:
            return
        wanted = self._text(self.writer.view(self.run))
        if (pull.title, pull.body) != (wanted.title, wanted.body):
            self.forge.update_pull_request(pull.number, title=wanted.title, body=wanted.body)
        if pull.draft and not wanted.draft:
            self.forge.mark_ready(pull)
            self._ask_for_review(pull.number)

    def _ask_for_review(self, number: int) -> None:
        """Ask those who approved in the thread to review a pull request that is no draft. GitHub
        itself asks the code owners.
        """
        approved = [
            one.by
            for decision in self.run.state.decisions
            for one in approvals_of(self.run.state, decision)
            if one.answer == Answer.APPROVE and "://" in one.via
        ]
        for login in dict.fromkeys(approved if self.run.config.request_review else ()):
            with suppress(PermissionMissing, GitHubRefused):
                self.forge.request_review(number, login)

    def set_evidence_status(self) -> None:
        """Say at the head of an open pull request which commit the run's evidence covers, where the
        token may do that.
        """
        pull = self.thread.pull_request(self.run)
        stated = self.run.workspace.read_bytes(EVIDENCE)
        if pull is None or pull.state is not PullState.OPEN or stated is None:
            return
        fetch_branch(self.run.repository.root, pull.head)
        head = read_json(stated).text("head")
        trouble = covers(self.run.repository, head, pull.head_sha)
        said = (
            trouble
            or f"evidence covers {short(head)}; its record is {short(self.run.tree.commit_id())}"
        )
        with suppress(PermissionMissing, GitHubRefused):
            state = "pending" if trouble else "success"
            self.forge.set_status(pull.head_sha, EVIDENCE_STATUS, state, said)

    def _text(self, view: RunView) -> PullRequestText:
        return pull_request(view, documents_of(self.run), customs=customs_of(self.run))

    def _pull_request(self) -> PublishResult:
        offered = self._offered()
        if not offered.branch:
            return publish_result(offered, f"there is no pull request: {offered.said}")
        state = self.run.state.replace(pull_request_branch=offered.branch)
        view: RunView = self.writer.view(self.run).replace(state=state)
        text = self._text(view)
        new = NewPullRequest(
            title=text.title,
            body=text.body,
            head=offered.branch,
            base=target_of(self.run),
            draft=text.draft,
        )
        try:
            # A person may have given the open one another base.
            known = self.thread.pull_of(self.run)
            pull = self.forge.pull_request_for(offered.branch) if known else None
            if pull is None or pull.state is not PullState.OPEN:
                pull = self.forge.open_pull_request(new)
                if not new.draft:
                    self._ask_for_review(pull.number)
        except (PermissionMissing, GitHubRefused) as error:
            # The work is done and on the branch; a person can open the pull request with one click.
            url = view.compare(offered.branch)
            self.writer.say(command_replies.pull_request_by_hand(view, error, url=url))
            detail = f"the pull request has to be opened by hand: {error.message}"
            return publish_result(offered, detail)
        self.refresh()
        return publish_result(offered, f"pull request #{pull.number}", pull.url)
