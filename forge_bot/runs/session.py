"""One invocation: open a run, continue it, ask, and return one outcome."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import KW_ONLY, dataclass, field

from forge_bot.agent.assignment import StopReason, WorkResult
from forge_bot.agent.models.base import Model
from forge_bot.engine import (
    Action,
    Checkpoint,
    Done,
    Exec,
    Host,
    PersonAction,
    State,
    WorkAction,
    drive,
    no_reports,
)
from forge_bot.engine.reports import Report
from forge_bot.errors import BadOption, ForgeError, GitFailed, StaleApproval
from forge_bot.forge import OpenPullRequest
from forge_bot.git import Repository
from forge_bot.interaction.remedy_words import advice_at_terminal
from forge_bot.runs.agent_work.agents import Agents, available
from forge_bot.runs.branch_for_merge import keep_run, offered, push_run
from forge_bot.runs.find_runs import RunInfo
from forge_bot.runs.inquiry import Inquirer, answer_in
from forge_bot.runs.local_host import LocalHost
from forge_bot.runs.models_and_prompts import end_batches, leaves_batches
from forge_bot.runs.notifications import Message, Notify, warning
from forge_bot.runs.open_run import open_run
from forge_bot.runs.publish_result import Post, Publisher
from forge_bot.runs.question import Question, gate_shown, open_question
from forge_bot.runs.run import Run
from forge_bot.runs.run_commands import PersonAnswer, PersonQuestion, answer, counted
from forge_bot.runs.run_files import is_kept, remove_branch, remove_work_tree
from forge_bot.runs.this_process import (
    Outcome,
    interruptible,
    lies_behind,
    local_user,
    outcome_of,
    paused,
    phase_named,
    time_limit,
)
from forge_bot.settings.config import Config, load_config
from forge_bot.values import PhaseId, Tier

VIA = "terminal"
"""The source of an answer that a person typed at a terminal."""


Asker = Callable[[Question], PersonAnswer | PersonQuestion | None]
"""Asks a person; None means that nobody answers now. After a PersonQuestion it is asked once more,
with the same question."""


@dataclass(eq=False, repr=False)
class Session:
    """The settings and objects of one invocation."""

    repository: Repository
    config: Config
    models: Callable[[], Mapping[Tier, Model]]
    tell: Notify
    ask: Asker
    _: KW_ONLY
    show: Callable[[Question], None] = lambda _question: None
    push: bool = False
    post: Post | None = None
    open_pr: OpenPullRequest | None = None
    until: str | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    timeout: asyncio.Timeout | None = field(default=None, init=False)

    def go_on(
        self, info: RunInfo, first: Callable[[Run], Report | None] | None = None
    ) -> tuple[Outcome, Run]:
        """Open the run, record a first report if one is given, and perform until nobody here can
        perform the next action.

        With `until`, no action after that phase is performed or asked. Raises BadOption if it is no
        phase of the run.
        """
        with open_run(self.repository, info, self.config) as run:
            last = phase_named(run.pipeline, self.until) if self.until is not None else None
            for notice in run.notices:
                self.tell(Message(text=notice))
            if first is not None:
                kept = is_kept(run.repository, run.name, run.tree.commit_id())
                if run.state.ended and not kept:
                    # A process that is killed after the last report has not kept the record. What
                    # is pushed is for the command to say.
                    self.finish(run, push=False)
                if (report := first(run)) is not None:
                    self._told(run, report)
            return self._performed(run, last), run

    def inquire(self, info: RunInfo, text: str) -> Outcome:
        """Answer a question about the run. Its state does not change, except for the cost. A work
        tree and a branch that were removed are removed again.
        """
        try:
            with open_run(self.repository, info, self.config) as run:
                for notice in run.notices:
                    self.tell(Message(text=notice))
                outcome = self.explained(self.inquirer(run).inquire(text))
                if info.kept:
                    self._keep_record(run, push=False)
            return outcome
        finally:
            if info.ended and info.tree is None:
                remove_work_tree(self.repository, info.name)
            if info.kept:
                remove_branch(self.repository, info.name, info.branch)

    def inquirer(self, run: Run) -> Inquirer:
        """Return what answers a question. Raises what opening models and prompts raises."""
        agents = Agents(run, self.models(), self.tell, environ=self.environ)
        return Inquirer(agents, by=local_user(), via=VIA)

    def explained(self, finished: WorkResult) -> Outcome:
        """Return the outcome of a question, whose answer was shown; tell it if the budget ended."""
        if answer_in(finished):
            return Outcome.DONE
        if finished.stop is StopReason.BUDGET:
            words = f"The budget is used up. {finished.message} forge-bot continue +5 allows more."
            self.tell(warning(words))
            return Outcome.BUDGET
        return Outcome.FAILED

    def _told(self, run: Run, report: Report) -> None:
        try:
            run.tell(report)
        except StaleApproval:
            self.show_again(run)
            raise

    def show_again(self, run: Run) -> None:
        """Show the question whose answer was refused: the next bare approval means this version."""
        asked = open_question(run)
        if asked is not None and isinstance(run.action, Checkpoint):
            if (shown := gate_shown(run, run.action, VIA)) is not None:
                run.tell(shown)
            self.show(asked)

    def _performed(self, run: Run, last: PhaseId | None) -> Outcome:
        action = asyncio.run(self.drive(run, TerminalHost(self, run, last)))
        if last is not None and lies_behind(run.pipeline, last, run.state, action):
            following, label = run.pipeline.phase(action.phase), run.pipeline.phase(last).label
            words = f"stopped, as --until says: {following.label} ({following.id}) comes after"
            self.tell(Message(text=f"{words} {label}. forge-bot resume goes on."))
            return Outcome.WAITING
        if isinstance(action, Done):
            self.finish(run, push=self.push)
        return outcome_of(action)

    async def drive(self, run: Run, host: Host) -> Action:
        """Drive the run for the time that it may take; return the outstanding action."""
        async with time_limit(self.config.run_seconds) as self.timeout:
            _, action = await drive(run.pipeline, run.state, host)
        return action

    def finish(self, run: Run, *, push: bool) -> None:
        """Deliver the record of a run that is over: push it if wanted, keep it apart from code."""
        if leaves_batches(run):
            end_batches(run, self.models, self.environ, self.tell)
        if push:
            try:
                # The commit that records the end can only follow the push it records.
                push_run(run, offered(run))
            except GitFailed as error:
                advice = advice_at_terminal(error)
                self.tell(warning(f"the last record was not pushed: {error.message} {advice}"))
        self._keep_record(run, push=push)

    def _keep_record(self, run: Run, *, push: bool) -> None:
        if trouble := keep_run(run, push=push):
            branch = run.state.branch
            self.tell(warning(f"the record of {run.name} is on the branch {branch}; {trouble}"))

    def local_host(
        self,
        run: Run,
        *,
        leave_actions: bool = False,
        delivered: Callable[[], object] = lambda: None,
        raises: bool = False,
    ) -> LocalHost:
        """The host that performs on this machine. `delivered` is called after each report. Raises
        what opening models and prompts raises.
        """
        agents = Agents(
            run,
            self.models() if run.pipeline.speaking else {},
            self.tell,
            environ=self.environ,
            leave_actions=leave_actions,
            delivered=delivered,
        )
        publisher = Publisher(run, push=self.push, post=self.post, open_pr=self.open_pr)
        return LocalHost(agents, publisher, recorded=delivered, raises=raises)


class TerminalHost:
    """Performs on this machine, and asks the person at the terminal; nothing after the phase
    `last`.
    """

    def __init__(self, session: Session, run: Run, last: PhaseId | None = None) -> None:
        self.session = session
        self.run = run
        self._last = last
        self._local: LocalHost | None = None
        self._asked = False

    def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
        behind = self._lies_behind(state, action)
        return no_reports() if behind else self._host().perform(state, action)

    def publish(self, state: State, action: Exec) -> AsyncGenerator[Report]:
        behind = self._lies_behind(state, action)
        return no_reports() if behind else self._host().publish(state, action)

    def _lies_behind(self, state: State, action: Action) -> bool:
        return lies_behind(self.run.pipeline, self._last, state, action)

    async def record(self, report: Report, state: State) -> None:
        if self._local is not None:
            await self._local.record(report, state)
        else:
            await asyncio.to_thread(self.run.record, report, state)

    async def ask(self, state: State, action: PersonAction) -> AsyncGenerator[Report]:
        """Show the question, answer what the person asks first, and report their answer."""
        if self._lies_behind(state, action):
            return
        # An answer can raise the budget, which a host reads when it is made.
        self._local = None
        self._asked = True
        asked = open_question(self.run)
        if asked is None:
            return
        if (shown := gate_shown(self.run, action, VIA)) is not None:
            yield shown
        report: Report | None = None
        while report is None and (reply := await self._reply(asked)) is not None:
            if isinstance(reply, PersonAnswer):
                report = self._answered(reply)
                continue
            async with aclosing(self._explain(reply.question)) as reports:
                async for earlier in reports:
                    yield earlier
        if report is not None:
            yield report

    def _answered(self, reply: PersonAnswer) -> Report | None:
        """Return the report of an answer, after saying what it counts with; None with a warning
        where it chooses what the question does not have.
        """
        try:
            report = answer(self.run, reply, VIA)
        except BadOption as error:
            self.session.tell(warning(error.message))
            return None
        if words := counted(report):
            self.session.tell(Message(text=words))
        return report

    def _host(self) -> LocalHost:
        """The host that works on this machine, made when there is something to do."""
        if self._local is None:
            if self._asked:
                # While a question was open, a person may have mended the project's commands.
                commands = load_config(self.session.repository.root).commands
                self.run.config = self.run.config.replace(commands=commands)
            self._local = self.session.local_host(self.run)
        return self._local

    async def _reply(self, asked: Question) -> PersonAnswer | PersonQuestion | None:
        timeout = self.session.timeout
        # A Ctrl-C that came before ends the work here.
        await asyncio.sleep(0)
        with interruptible(), paused(timeout) if timeout is not None else nullcontext():
            return self.session.ask(asked)

    async def _explain(self, text: str) -> AsyncGenerator[Report]:
        """Answer while a question is open. An error is shown, and the question stays open."""
        try:
            finished, report = await self.session.inquirer(self.run).look_into(text)
            if report is not None:
                yield report
            self.session.explained(available(finished))
        except ForgeError as error:
            self.session.tell(warning(f"{error.message} {advice_at_terminal(error)}"))
