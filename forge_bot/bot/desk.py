"""Everything the supervisor writes on GitHub, so that nothing is written twice and nothing more often than GitHub likes."""

from collections.abc import Callable

from forge_bot.bot.speech import Commands, Links, Reply, View, checkpoint, failures, replies, tracking
from forge_bot.bot.thread import Thread
from forge_bot.engine import Pipeline, State
from forge_bot.engine.reports import GateShown
from forge_bot.github_api import Comment, GitHub, Reaction
from forge_bot.runs.asking import question
from forge_bot.runs.find import RunInfo
from forge_bot.runs.run import Run
from forge_bot.workspace import SPECS

_NO_COMMIT = "0" * 40

EDIT_SECONDS = 10.0
"""Between two edits of the tracking comment while the run goes on; GitHub limits what one token may write."""


class Desk:
    """Writes for one issue. `clock` gives seconds."""

    def __init__(self, github: GitHub, thread: Thread, commands: Commands, address: str, job: str, clock: Callable[[], float]) -> None:
        self.github = github
        self.thread = thread
        self.commands = commands
        self.address = address
        self.job = job
        self.clock = clock
        self.estimate = ""
        self.removed = ""
        self.tracked: int | None = None
        self._last: str = ""
        self._edited_at = -EDIT_SECONDS

    def view(self, run: Run, trouble: Reply | None = None) -> View:
        """The run as comments show it."""
        view = self.view_at(run.state, run.pipeline, run.tree.head().commit)
        return view.model_copy(update={"question": question(run), "trouble": trouble})

    def view_at(self, state: State, pipeline: Pipeline, commit: str) -> View:
        """The same, of a state that a commit holds."""
        shown = state.gate.shown if state.gate is not None else ()
        links = Links(
            repository=self.address,
            commit=commit,
            workspace=f"{SPECS}/{state.run}",
            job=self.job,
            question=shown[-1].via if shown else "",
        )
        return View(pipeline=pipeline, state=state, links=links, commands=self.commands, estimate=self.estimate, removed=self.removed)

    def links(self, info: RunInfo) -> Links:
        """Addresses for words about a run that cannot be opened."""
        return Links(repository=self.address, commit=_NO_COMMIT, workspace=f"{SPECS}/{info.name}", job=self.job)

    @property
    def thread_address(self) -> str:
        """The issue's page."""
        return f"{self.address}/issues/{self.thread.number}"

    def cancelled(self) -> Reply:
        """Somebody cancelled the job."""
        return failures.cancelled(self.commands)

    def answered(self, text: str) -> Reply:
        """A model's answer to a question."""
        return replies.answered(text)

    def track(self, view: View, *, at_once: bool = True) -> None:
        """Bring the tracking comment up to date; without `at_once` not more often than GitHub likes."""
        if not at_once and self.clock() - self._edited_at < EDIT_SECONDS:
            return
        text = tracking(view)
        if text == self._last:
            return
        place = self._place(view)
        if place is None:
            self.tracked = self.github.comment(self.thread.number, text).id
        else:
            self.github.edit_comment(place, text)
            self.tracked = place
        self._last, self._edited_at = text, self.clock()

    def _place(self, view: View) -> int | None:
        """The comment that is edited: the gate's first line, or the one an earlier job wrote. One that was deleted is written anew."""
        known = {comment.id for comment in self.thread.comments() if self.thread.own(comment)}
        if self.tracked is not None and (self._last or self.tracked in known):
            return self.tracked
        issue = str(self.thread.number)
        found = self.thread.written("tracking", run=view.state.run) or self.thread.written("tracking", issue=issue)
        return found.id if found is not None else None

    def ask(self, run: Run) -> None:
        """Show the open question in a comment of its own, once for each version, and record that it was shown."""
        gate = run.state.gate
        if gate is None or (gate.shown and gate.shown[-1].digest == gate.digest):
            return
        marked = {"run": run.state.run, "gate": gate.name, "round": str(gate.round), "digest": gate.digest}
        # A job that died after it had asked is not a reason to ask twice.
        found = self.thread.written("checkpoint", **marked)
        comment = found or self.github.comment(self.thread.number, checkpoint(self.view(run)))
        # GitHub's own time: what is answered is compared with it, and the clock of this machine may be another.
        key = f"shown-{comment.id}-{gate.digest[:12]}"
        run.tell(GateShown(key=key, at=comment.created_at, gate=gate.name, digest=gate.digest, via=comment.url))

    def say(self, reply: Reply, to: Comment | None = None, number: int | None = None) -> None:
        """Answer a comment once, or say something to everybody."""
        if to is not None and self.thread.answered(to):
            return
        self.github.comment(number or self.thread.number, reply.comment(str(to.id) if to is not None else ""))
        if to is not None:
            self.react(to, reply.reaction)

    def react(self, comment: Comment, reaction: str) -> None:
        """A sign on a comment."""
        self.github.react_to_comment(comment.id, Reaction(reaction))
