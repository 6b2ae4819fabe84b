"""The local host: performs what the engine asks for on this machine, with models and the project's
own commands; and the actions of agents that it leaves to others, kept here until each is performed.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing
from functools import partial
from pathlib import Path

from forge_bot.agent.assignment import place_of
from forge_bot.agent.capabilities import CapabilityResult, CapabilityType
from forge_bot.agent.fulfil_requests import (
    ActionsWanted,
    Fulfilment,
    LeftAction,
    outstanding_action,
)
from forge_bot.agent.journal import Journal
from forge_bot.agent.models.open_model import check_keys
from forge_bot.engine import (
    Exec,
    PersonAction,
    Pipeline,
    SpawnAgent,
    State,
    WorkAction,
    WriteFile,
    no_reports,
)
from forge_bot.engine.gates import AUTO, WHY_AUTO
from forge_bot.engine.reports import ArtifactWritten, PublicationAsked, Published, Report, head_of
from forge_bot.errors import GitFailed, GitHubError, ModelUnavailable, PushRefused
from forge_bot.runs.agent_work.agents import Agents
from forge_bot.runs.builtin_actions import executed, not_done, written
from forge_bot.runs.capabilities.perform_calls import next_call
from forge_bot.runs.model_access import pause_of
from forge_bot.runs.notifications import Message, PhaseBegan, PhaseEnded
from forge_bot.runs.publish_result import Publisher
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import read_kept
from forge_bot.runs.this_process import now
from forge_bot.store.files import write_whole


class LocalHost:
    """Performs the actions of one run in sequence, and the tasks of a wave in parallel.

    Without a `publisher` nothing is published. `withheld` names, by git's wildcards, files that
    cannot be delivered from here: they stay in the approved patch. With `raises`, errors of a
    publication are raised and not reported, because whoever leads the run publishes again.
    `recorded` is called in a thread after each recorded report, before anything else happens.
    """

    def __init__(
        self,
        agents: Agents,
        publisher: Publisher | None = None,
        *,
        withheld: tuple[str, ...] = (),
        recorded: Callable[[], object] | None = None,
        raises: bool = False,
    ) -> None:
        self.agents = agents
        self.run = agents.run
        self.project = agents.project
        self.tell = agents.tell
        self.publisher = publisher
        self.withheld = withheld
        self.recorded = recorded
        self.raises = raises
        self._paths: tuple[str, ...] = ()
        self._offered = ""

    async def record(self, report: Report, state: State) -> None:
        """Record the report and its state, and commit the files that belong to it."""
        paths, self._paths = self._paths, ()
        known = len(self.run.state.decisions)
        await asyncio.to_thread(self.run.record, report, state, paths)
        if isinstance(report, ArtifactWritten):
            self.tell(ended_phase(self.run.pipeline, report))
        for decision in state.decisions[known:]:
            if decision.via == AUTO:
                label = self.run.pipeline.phase(decision.gate).label
                self.tell(Message(text=f"{label}: passed by --auto, since {WHY_AUTO}"))
        if self.recorded is not None:
            await asyncio.to_thread(self.recorded)

    async def perform(self, state: State, action: WorkAction) -> AsyncGenerator[Report]:
        """Run agents and the project's commands, and write the engine's documents. Raises
        ActionsWanted for an approved call that is left to others.
        """
        calls_tools = isinstance(action, Exec) and action.operation == "call-tools"
        if calls_tools and self.agents.leave_actions:
            raise ActionsWanted(outstanding_action(state))
        try:
            match action:
                case SpawnAgent():
                    async with aclosing(self.agents.perform(action)) as landings:
                        async for report, paths in landings:
                            self._paths = paths
                            yield report
                case Exec(operation="call-tools"):
                    self._began(action)
                    await self.agents.outside.discover()
                    act = self.agents.acting(action)
                    catalogue = self.agents.outside.catalogue
                    calls = next_call(action, state, self.run, catalogue, act)
                    while (made := await asyncio.to_thread(next, calls, None)) is not None:
                        yield made
                case Exec():
                    self._began(action)
                    if action.operation == "prepare":
                        await check_keys(self.agents.models)
                    yield await self._reported(partial(self._execute, state, action), action)
                case WriteFile():
                    self._began(action)
                    yield written(action, self.run)
        except BaseException as error:
            # Also where a signal comes as itself and not as a cancellation: a command that goes on
            # would keep the process waiting.
            self.project.runner.call_off()
            if isinstance(error, ModelUnavailable) and (
                pause := pause_of(error, action.action_id, self.run.now())
            ):
                yield pause
            raise

    def ask(self, state: State, action: PersonAction) -> AsyncGenerator[Report]:
        """Ask nobody."""
        del state, action
        return no_reports()

    async def publish(self, state: State, action: Exec) -> AsyncGenerator[Report]:
        """Publish the parts that this machine can publish, if this host publishes at all."""
        del state
        if self.publisher is not None:
            self._began(action)
            if (theirs := await asyncio.to_thread(self.publisher.peoples_commits)) is not None:
                yield theirs
                return
            publish = partial(self._publish, self.publisher, action)
            yield await self._reported(publish, action, raises=self.raises)

    def _began(self, action: Exec | WriteFile) -> None:
        task = action.task if isinstance(action, Exec) else None
        label = self.run.pipeline.phase(action.phase).label
        tasks = (task,) if task is not None else ()
        self.tell(PhaseBegan(phase=action.phase, label=label, tasks=tasks))

    async def _reported(
        self, do: Callable[[], Report], action: Exec, *, raises: bool = False
    ) -> Report:
        try:
            return await asyncio.to_thread(do)
        except (GitFailed, GitHubError) as error:
            if raises and not isinstance(error, PushRefused):
                raise
            return not_done(action, self.run, error)

    def _execute(self, state: State, action: Exec) -> Report:
        report, self._paths = executed(action, state, self.agents.tries, self.withheld)
        return report

    def _publish(self, publisher: Publisher, action: Exec) -> Report:
        name = action.action_id
        match action.operation:
            case "post-to-source" if publisher.asks():
                return PublicationAsked(key=f"{name}/asked", at=now(), action_id=name)
            case "pull-request" | "post-to-source" | "final-commit":
                done = publisher.publish(action.operation)
                offer = done.offer if done.offer != self._offered else ""
                self._offered = done.offer or self._offered
                for text in filter(None, (done.detail, offer, done.url)):
                    self.tell(Message(text=text))
                return Published(
                    **head_of(name, now()), detail=done.detail, url=done.url, branch=done.branch
                )
            case "prepare" | "verify" | "apply-held" | "call-tools" | "step":
                raise AssertionError(action.operation)


def ended_phase(pipeline: Pipeline, report: ArtifactWritten) -> PhaseEnded:
    """Return the notice that an artifact was written."""
    inspection = report.inspection
    good = not inspection.problems and (inspection.verdict is None or inspection.verdict.positive)
    return PhaseEnded(
        phase=report.phase,
        label=pipeline.phase(report.phase).label,
        result=report.artifact,
        usage=report.usage,
        task=report.task,
        verdict=inspection.verdict,
        good=good,
    )


def keep_left(run: Run, wanted: ActionsWanted) -> None:
    """Keep what performing the actions takes on this machine, for `left_action`."""
    for action in wanted.actions:
        if isinstance(action, LeftAction):
            file = _file(run, action.key)
            file.parent.mkdir(exist_ok=True)
            write_whole(file, action.model_dump_json())


def left_action(run: Run, key: str) -> LeftAction | None:
    return read_kept(_file(run, key), LeftAction)


async def perform_left(agents: Agents, wanted: LeftAction) -> CapabilityResult:
    """Perform an action as the conversation that left it would have, beside others. Whoever holds
    the run keeps the result, by `keep_result`.
    """
    action = agents.run.action
    assert isinstance(action, SpawnAgent)  # noqa: S101 - no other has conversations
    await agents.discover()
    async with AsyncExitStack() as trees:
        skill = wanted.capability_type is CapabilityType.SKILL
        own = agents.worktrees.own
        worktree = await agents.worktree(action, wanted.task, trees) if skill else own
        place = place_of(action.action_id, wanted.task)
        began = wanted.key.removeprefix(place).partition("#")[0]
        assignment = agents.assignment(action, wanted.task, began)
        lane = agents.lane_of(action)
        if lane is not None:
            agents.journal.carry(place)
        spent = agents.journal.unread(place)
        agents.ledger.settle(f"{place}before", spent.cost, spent.tokens)
        return await Fulfilment(
            assignment,
            agents.context(assignment, worktree, lane),
            agents.journal,
            agents.ledger,
            lambda notice: agents.thinking(notice, wanted.task),
            time.monotonic,
        ).perform(wanted.request)


def keep_result(agents: Agents, wanted: LeftAction, result: CapabilityResult) -> CapabilityResult:
    """Put the result where the conversation looks for it; return the first one that was put there.
    The journal has one writer, the process that holds the run.
    """
    run, action = agents.run, agents.run.action
    journal = Journal(run.places.journal, agents.outside.environ, agents.journal.carried)
    if isinstance(action, SpawnAgent) and agents.lane_of(action) is not None:
        journal.carry(place_of(action.action_id, wanted.task))
    return journal.observed(wanted.key) or journal.looked(wanted.key, result)


def _file(run: Run, key: str) -> Path:
    return run.places.home / "actions" / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"
