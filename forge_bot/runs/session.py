"""One invocation: a run is opened, goes on, asks, and ends with one outcome."""

import getpass
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import uuid4

from forge_bot.agent.assignment import StopReason
from forge_bot.agent.models.base import Model
from forge_bot.engine import Action, Checkpoint, Done, HumanGate, drive
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import Abandoned, Answer, Answered, GateShown, Report
from forge_bot.engine.state import Reason
from forge_bot.errors import ForgeError, GitFailed, StaleApproval
from forge_bot.git import Repository
from forge_bot.prompts.environment import Environment
from forge_bot.runs.inquiry import AGENT, inquire
from forge_bot.runs.installation import foundation
from forge_bot.runs.local_host import LocalHost
from forge_bot.runs.notifications import Explained, Message, Notify, StoppedBefore
from forge_bot.runs.outcome import Outcome
from forge_bot.runs.phase_names import StopAtLine, StopLine, never_stop, phase_named, stop_after
from forge_bot.runs.process_signals import until_stopped
from forge_bot.runs.project import Project, profile_at
from forge_bot.runs.publish import Post
from forge_bot.runs.question import Question, open_question
from forge_bot.runs.resolve import RunInfo
from forge_bot.runs.run import Run, open_run
from forge_bot.settings import Config
from forge_bot.values import Frozen, PhaseId, Tier

VIA = "terminal"
"""How an answer came that a person typed at a terminal."""

VIA_SCRIPT = "script"
"""How an answer came that a command gave without a terminal."""


class PersonAnswer(Frozen):
    """What a person said to a question."""

    answer: Answer
    notes: str = ""


class PersonQuestion(Frozen):
    """A person wants to know something before they answer."""

    question: str


Asker = Callable[[Question], PersonAnswer | PersonQuestion | None]
"""Asks a person; None means that nobody answers now. After a Wonder it is asked once more, with the same question."""


class Session:
    """Everything one invocation works with."""

    def __init__(
        self,
        repository: Repository,
        config: Config,
        models: Callable[[], Mapping[Tier, Model]],
        tell: Notify,
        ask: Asker,
        *,
        show: Callable[[Question], None] | None = None,
        push: bool = False,
        post: Post | None = None,
        until: str | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.repository = repository
        self.config = config
        self.models = models
        self.tell = tell
        self.ask = ask
        self.show: Callable[[Question], None] = show or (lambda _question: None)
        self.push = push
        self.post = post
        self.until = until
        self.environ = environ

    def go_on(self, info: RunInfo, first: Callable[[Run], Report | None] | None = None) -> tuple[Outcome, Run]:
        """Open the run, tell it something first if wanted, and perform until nobody here can do what is asked.

        With `until`, nothing that lies behind that phase is done or asked. Raises BadOption if it is no phase of the run.
        """
        with open_run(self.repository, info, self.config) as run:
            last = phase_named(run.pipeline, self.until) if self.until is not None else None
            for notice in run.notices:
                self.tell(Message(text=notice))
            if first is not None and (report := first(run)) is not None:
                self._told(run, report)
            return self._performed(run, last), run

    def inquire(self, info: RunInfo, text: str) -> Outcome:
        """Answer a question about the run; it stands where it stood, and only the cost is counted."""
        with open_run(self.repository, info, self.config) as run:
            for notice in run.notices:
                self.tell(Message(text=notice))
            return self._inquired(run, text)

    def _inquired(self, run: Run, text: str) -> Outcome:
        found = inquire(
            run,
            text,
            profile=profile_at(self.repository, run.state.base_commit, self.config),
            models=self.models(),
            templates=prompts_for(self.repository.root, run.pipeline),
            tell=self.tell,
            by=person(),
            via=VIA,
            environ=self.environ,
        )
        if found.answer:
            self.tell(Explained(answer=found.answer))
            return Outcome.DONE
        if found.stop is StopReason.BUDGET:
            self.tell(Message(text=f"The budget is used up. {found.message} forge-bot continue +$5 allows more.", kind="warning"))
            return Outcome.BUDGET
        return Outcome.FAILED

    def _explained(self, run: Run, text: str) -> None:
        """Answer in the middle of a question: whatever stands in the way is told, and the question stays open."""
        try:
            self._inquired(run, text)
        except ForgeError as error:
            self.tell(Message(text=f"{error.message} {error.advice}", kind="warning"))

    def _told(self, run: Run, report: Report) -> None:
        try:
            run.tell(report)
        except StaleApproval:
            # Refused, and shown again: the next bare approval then means what is seen here.
            asked = open_question(run)
            if asked is not None and isinstance(run.action, Checkpoint):
                self._shown(run, run.action)
                self.show(asked)
            raise

    def _performed(self, run: Run, last: PhaseId | None) -> Outcome:
        line = stop_after(run.pipeline, last) if last is not None else never_stop
        while True:
            action = run.action if _persons_turn(run.action) or line(run.state, run.action) else self._perform(run, line)
            if isinstance(action, Done):
                self._push_record(run)
                return Outcome.ABANDONED if action.outcome == "abandoned" else Outcome.DONE
            if last is not None and line(run.state, action):
                self._stopped(run, last, action)
                return Outcome.WAITING
            outcome = self._asked(run, action)
            if outcome is not None:
                return outcome

    def _stopped(self, run: Run, last: PhaseId, action: Action) -> None:
        following = run.pipeline.phase(action.phase)
        label = run.pipeline.phase(last).label
        self.tell(StoppedBefore(last=label, following=f"{following.label} ({following.id})"))

    def _asked(self, run: Run, action: Action) -> Outcome | None:
        """Ask the person; None if they answered and the run goes on."""
        asked = open_question(run)
        if asked is None:
            return Outcome.FAILED
        if isinstance(action, Checkpoint):
            self._shown(run, action)
        while isinstance(reply := self.ask(asked), PersonQuestion):
            self._explained(run, reply.question)
        if reply is None:
            budget = isinstance(action, Checkpoint) and action.reason is Reason.BUDGET
            return Outcome.BUDGET if budget else Outcome.WAITING
        run.tell(answer(run, reply, VIA))
        return None

    def _push_record(self, run: Run) -> None:
        """The commit that records the end of a run can only follow the push it records."""
        if not self.push:
            return
        try:
            run.tree.push()
        except GitFailed as error:
            self.tell(Message(text=f"the last record was not pushed: {error.message} {error.advice}", kind="warning"))

    def _perform(self, run: Run, line: StopLine) -> Action:
        project = Project(
            self.repository,
            run.tree,
            run.places,
            self.config,
            profile_at(self.repository, run.state.base_commit, self.config),
            self.tell,
            foundation(run),
        )
        templates = prompts_for(self.repository.root, run.pipeline)
        host = LocalHost(run, project, self.models(), templates, self.tell, environ=self.environ, push=self.push, post=self.post)
        _, action = until_stopped(drive(run.pipeline, run.state, StopAtLine(host, line)))
        return action

    def _shown(self, run: Run, action: Checkpoint) -> None:
        shown = run.state.gate.shown if run.state.gate is not None else ()
        if not shown or shown[-1].digest != action.digest:
            run.tell(GateShown(key=f"shown-{uuid4().hex}", at=run.now(), gate=action.name, digest=action.digest, via=VIA))


def _persons_turn(action: Action) -> bool:
    return isinstance(action, Checkpoint | HumanGate | Done)


def answer(run: Run, reply: PersonAnswer, via: str, digest: str | None = None, by: str = "") -> Answered | Abandoned:
    """The report that gives an answer to the open question, for the version that was shown; by whoever sits here if nobody is named."""
    action = run.action
    key, stamp, by = f"answer-{uuid4().hex}", run.now(), by or person()
    if reply.answer is Answer.ABANDON and not isinstance(action, Checkpoint | HumanGate):
        return Abandoned(key=key, at=stamp, by=by, via=via, notes=reply.notes)
    gate = action.name if isinstance(action, Checkpoint) else action.phase
    return Answered(
        key=key,
        at=stamp,
        gate=PhaseId(gate),
        answer=reply.answer,
        digest=digest,
        notes=reply.notes,
        by=by,
        via=via,
        action_id=action.action_id,
    )


def person() -> str:
    """Who sits at the terminal, as the system knows them."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"


def prompts_for(root: Path, pipeline: Pipeline) -> Environment:
    """The prompts of a repository. Raises BadTemplate if one is missing or broken, before any model is asked."""
    environment = Environment(overrides=own_prompts(root))
    environment.check((*pipeline.agents, AGENT))
    return environment


def own_prompts(root: Path) -> dict[str, str]:
    """The repository's own prompt templates, by name."""
    folder = root / ".forge" / "prompts"
    if not folder.is_dir():
        return {}
    return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.j2"))}
