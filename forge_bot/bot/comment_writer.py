"""Everything the supervisor writes on GitHub, so that nothing is written twice and nothing more
often than GitHub likes.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from forge_bot.agent.models.base import reads_images
from forge_bot.bot.comments.checkpoint_comment import checkpoint
from forge_bot.bot.comments.reply import CommentReply, RunView, patches_by_hand, workflows_that_wait
from forge_bot.bot.comments.tracking_comment import tracking
from forge_bot.bot.job_context import JobContext
from forge_bot.bot.thread import Thread, ThreadCommand, awaited
from forge_bot.engine import Pipeline, State
from forge_bot.engine.external_events import FOLLOW_UP
from forge_bot.engine.reports import GateShown
from forge_bot.engine.state import OpenGate
from forge_bot.errors import ForgeError, GitHubUnavailable, NotOnGitHub
from forge_bot.forge.types import Comment, Reaction
from forge_bot.interaction.command_names import CommandNames
from forge_bot.interaction.commit_links import Links
from forge_bot.prompts.removals import sentence
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.branch_for_merge import target_of
from forge_bot.runs.estimate import estimate, in_words
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.frozen_attachments import unseen
from forge_bot.runs.model_access import spending_now
from forge_bot.runs.question import open_question
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now
from forge_bot.sentences import listed, say
from forge_bot.store.run_folder import UnreadComment
from forge_bot.values import Tier

_MOST_NAMED = 6


@dataclass
class CommentWriter:
    """Writes for one issue.

    `tip` gives the newest commit of a branch that GitHub has. `tracked` is the comment of the
    progress.
    """

    thread: Thread
    commands: CommandNames
    around: JobContext
    tip: Callable[[str], str]
    tracked: int | None = None
    estimate: str = ""
    removed: str = ""
    unread: tuple[UnreadComment, ...] = ()
    occasions: set[str] = field(default_factory=set[str])
    """The occasions for which somebody was answered in this job."""
    _last: str = ""

    def view(self, run: Run, trouble: CommentReply | None = None) -> RunView:
        """The run as comments show it; in trouble, which may be that of a push, with links to what
        is on GitHub.
        """
        commit = run.tree.head().commit if trouble is None else self.tip(run.state.branch)
        view = self.view_at(run.state, run.pipeline, commit)
        view = view.replace(question=open_question(run), trouble=trouble, target=target_of(run))
        read = run.workspace.read_bytes
        return view.replace(
            patches=patches_by_hand(run.state, read),
            by_hand=workflows_that_wait(run.state, read),
        )

    def view_at(self, state: State, pipeline: Pipeline, commit: str) -> RunView:
        """The same, of a state that a commit holds."""
        shown = state.gate.shown if state.gate is not None else ()
        links = self.around.links(commit, state.run)
        return RunView(
            pipeline=pipeline,
            state=state,
            links=links.replace(question=shown[-1].via if shown else ""),
            commands=self.commands,
            estimate=self.estimate,
            removed=self.removed,
            unread=self.unread,
        )

    def links(self, info: RunInfo) -> Links:
        """Addresses for words about a run that cannot be opened."""
        return self.around.links(self.tip(info.branch), info.name)

    def track(self, view: RunView) -> None:
        """Bring the tracking comment up to date."""
        text = tracking(view)
        if text == self._last:
            return
        place = self._place(view)
        if place is None or not self._edited(place, text):
            place = self.write(self.thread.number, text).id
        self.tracked, self._last = place, text

    def _edited(self, place: int, text: str) -> bool:
        """Give the comment this text; return False if somebody deleted the comment meanwhile."""
        try:
            self.thread.forge.edit_comment(place, text)
        except NotOnGitHub:
            self.thread.forget(place)
            return False
        return True

    def _place(self, view: RunView) -> int | None:
        """The comment that is edited: the gate's first line, or the one an earlier job wrote. One
        that was deleted is written anew.
        """
        known = {comment.id for comment in self.thread.comments() if self.thread.own(comment)}
        if self.tracked is not None and (self._last or self.tracked in known):
            return self.tracked
        issue, written = str(self.thread.number), self.thread.written
        comment = written("tracking", run=view.state.run) or written("tracking", issue=issue)
        return comment.id if comment is not None else None

    def ask(self, run: Run) -> GateShown | None:
        """Show the open question in a comment of its own, once for each version; the report that it
        was shown.

        A version whose comment is gone, or that was shown at a terminal only, is shown here again.
        """
        gate = run.state.gate
        if gate is None:
            return None
        # A job that died after it had asked is not a reason to ask twice.
        written = self._asked(run, gate)
        if written is not None and gate.shown and gate.shown[-1].digest == gate.digest:
            return None
        comment = written or self.write(self._page(run), self._question(run))
        # GitHub's own time: what is answered is compared with it, and the clock of this machine may
        # be another.
        key = f"shown-{comment.id}-{gate.digest[:12]}"
        if key in run.state.seen:
            return None
        return GateShown(
            key=key, at=comment.created_at, gate=gate.name, digest=gate.digest, via=comment.url
        )

    def show_approvals(self, run: Run) -> None:
        """Say in the comment of the open question who has to approve yet."""
        gate = run.state.gate
        if gate is not None and (written := self._asked(run, gate)) is not None:
            self._edited(written.id, self._question(run))

    def _asked(self, run: Run, gate: OpenGate) -> Comment | None:
        """Return the comment that shows this version of the question."""
        fields = {"gate": gate.name, "round": str(gate.round), "digest": gate.digest}
        return self.thread.written("checkpoint", self._page(run), run=run.state.run, **fields)

    def _page(self, run: Run) -> int:
        """Return where questions are asked: at the pull request once more was asked of it."""
        further = any(task.origin.startswith(FOLLOW_UP) for task in run.state.tasks)
        return (self.thread.pull_of(run) if further else 0) or self.thread.number

    def _question(self, run: Run) -> str:
        return checkpoint(self.view(run).replace(awaited=awaited(run, self.thread)))

    def say(self, reply: CommentReply, to: ThreadCommand | None = None) -> None:
        """Answer a command once, in its own thread; or write to everybody in the issue."""
        self.occasions.add(reply.occasion)
        if to is None:
            self.write(self.thread.number, reply.comment())
        elif not self.thread.answered(to.comment):
            # The reaction comes first: with the mark of the reply it is the sign that we answered.
            self.react(to.comment, reply.reaction)
            self.write(to.number, reply.comment(str(to.comment.id)))
            self.thread.replied(to.comment)

    def edited(self, comment: Comment, text: str) -> bool:
        """Give a comment of ours another text; return False if somebody deleted it meanwhile."""
        return comment.body.strip() == text.strip() or self._edited(comment.id, text)

    def say_once(self, reply: CommentReply, about: str = "") -> None:
        """Say something in the issue unless it was said before; `about` one run or for all time."""
        fields = {"occasion": reply.occasion} | ({"to": about} if about else {})
        if self.thread.written("reply", **fields) is None:
            self.write(self.thread.number, reply.comment(about))

    def write(self, number: int, text: str) -> Comment:
        """Write a comment, once: where GitHub's answer is lost, it is looked for before it is
        written again.
        """
        try:
            comment = self.thread.forge.comment(number, text)
        except GitHubUnavailable:
            comment = self._written_unheard(number, text) or self.thread.forge.comment(number, text)
        self.thread.remember(number, comment)
        return comment

    def _written_unheard(self, number: int, text: str) -> Comment | None:
        """Return our newest comment of this text that was not there when the thread was read."""
        known = {comment.id for comment in self.thread.known(number)}
        for comment in reversed(self.thread.forge.comments(number)):
            is_new = self.thread.own(comment) and comment.id not in known
            if is_new and comment.body.strip() == text.strip():
                return comment
        return None

    def react(self, comment: Comment, reaction: Reaction) -> None:
        """React to a comment, unless it was deleted since it was read: its command was obeyed."""
        with suppress(NotOnGitHub):
            self.thread.forge.react_to_comment(comment.id, reaction)


def expected_cost(run: Run) -> str:
    """Return the estimate of a run in plain words, with what all runs spent of each cap; empty
    without evidence for one. Each job computes it anew.
    """
    windows = spending_now(run.repository, run.config.caps, run.request.requested_by, now())
    spent = "; all runs: " + ", ".join(window.sentence for window in windows) if windows else ""
    return f"{_estimated_cost(run)}{spent}".removeprefix("; ")


def _estimated_cost(run: Run) -> str:
    state = run.state
    models = {tier: run.config.model_for(tier) for tier in Tier}
    try:
        expected = estimate(
            run.repository,
            state.base_commit,
            run.pipeline,
            state.effort,
            models,
            auto=state.flags.auto,
            batch=state.flags.batch,
        )
    except ForgeError:
        return ""
    return in_words(expected)


def unseen_text(run: Run) -> str:
    """Return the sentences about what models get to see of the request, and what not: hidden text
    and attachments; empty when there is none.
    """
    cleaned = clean(run.request.text)
    return " ".join(filter(None, [sentence(cleaned.removals), _attachments(run)]))


def _attachments(run: Run) -> str:
    """The sentences about attachments: those that models see, and those that they do not."""
    attachments, model = run.request.attachments, run.config.model_for(Tier.STANDARD)
    hidden = unseen(attachments, images=reads_images(model))
    unread = {item.address for item in hidden}
    seen = [item.label for item in attachments if item.address not in unread]
    named = [f"{item.label} ({item.unseen})" for item in hidden]
    return " ".join(
        say(topic, names=listed(names, most=_MOST_NAMED))
        for topic, names in (("bot.attached", seen), ("bot.unseen", named))
        if names
    )
