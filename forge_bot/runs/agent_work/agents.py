"""Run the agents of a run: a single one, or one for each task of a wave in parallel. The results of
a wave are merged in order.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack

from forge_bot.agent.ask_model import BatchLane
from forge_bot.agent.assignment import (
    Assignment,
    StopReason,
    TryOutcome,
    WorkLimits,
    WorkResult,
    beginning,
    place_of,
)
from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    CapabilitySpec,
    Effect,
    ResultStatus,
)
from forge_bot.agent.converse import Try, converse
from forge_bot.agent.fulfil_requests import AgentStops
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger
from forge_bot.agent.model_answers import AnswerKind
from forge_bot.agent.models.base import ChatMessage, Image, Model
from forge_bot.agent.tools.setup import matches_a_glob
from forge_bot.agent.tools.tool_catalogue import ToolContext, get_capability_specs
from forge_bot.engine import Exec, SpawnAgent
from forge_bot.engine.drafts import may_correct, may_draft
from forge_bot.engine.phases import AnsweringPhase
from forge_bot.errors import ModelUnavailable
from forge_bot.git import blob_id
from forge_bot.git.commit_objects import tree_without
from forge_bot.knowledge.history import REQUEST
from forge_bot.runs.agent_work.apply_output import OutputApplier
from forge_bot.runs.agent_work.artifact_contract import answer_contract
from forge_bot.runs.agent_work.trees_and_reports import (
    AgentReports,
    AgentWorktree,
    AgentWorktrees,
    Landed,
)
from forge_bot.runs.capabilities.outside_capabilities import (
    OutsideCapabilities,
    describe_capability,
)
from forge_bot.runs.capabilities.perform_calls import Act, SkillPerformer, SkillPlace, settled_calls
from forge_bot.runs.edit_checks.edit_tries import EditTries
from forge_bot.runs.frozen_attachments import images_for
from forge_bot.runs.model_access import ModelAccess
from forge_bot.runs.models_and_prompts import PERFORMER, continued, opening, prompts_for
from forge_bot.runs.notifications import Notify, PhaseBegan, TellThinking, warning
from forge_bot.runs.project_commands.project import project_of
from forge_bot.runs.prompt_material.prompt_context import PromptContext
from forge_bot.runs.run import Run
from forge_bot.runs.this_process import now
from forge_bot.store.run_folder import CARRIED, SPECS
from forge_bot.values import TaskId, Tier

_LETTERS = 3
"""Characters of a token, fewer than in most texts: a prompt has to fit."""


def available(finished: WorkResult) -> WorkResult:
    """Return the result of an agent. Raises ModelUnavailable if no model could be asked: the run
    has no error, and continues when one is available again.
    """
    if finished.stop is StopReason.MODEL_UNAVAILABLE:
        raise ModelUnavailable(finished.message, trouble=finished.trouble)
    return finished


class Agents:
    """Runs agents for one run, with one budget and one journal for all of them.

    With `leave_actions`, ActionsWanted names the tools and skills that others are to perform.
    `delivered` pushes the branch where a batch is waited for; it is called in threads.
    Raises what opening prompts raises.
    """

    def __init__(
        self,
        run: Run,
        models: Mapping[Tier, Model],
        tell: Notify,
        *,
        environ: Mapping[str, str],
        leave_actions: bool = False,
        delivered: Callable[[], object] = lambda: None,
    ) -> None:
        self.run = run
        self.project = project = project_of(run, tell)
        templates = prompts_for(run.repository.root, run.pipeline)
        self.models = models
        self.leave_actions = leave_actions
        self.tell = tell
        self.journal = Journal(run.places.journal, environ, run.workspace.path / CARRIED)
        self.delivered = delivered
        self.lane = BatchLane(now, self._without_batches)
        self.access = ModelAccess(run, environ)
        self.ledger = Ledger(run.state.budget, may_ask=self.access.check)
        self.thinking = TellThinking(tell, run.state.budget)
        self.applier = OutputApplier(run)
        self.tries = EditTries(run, project, tell)
        self.prompts = PromptContext(run, project.profile, templates)
        self.worktrees = AgentWorktrees(run, project)
        self.outside = OutsideCapabilities(run, environ, tell)
        self.reports = AgentReports(run, self.journal, self.applier, self.outside)
        self.skills = SkillPerformer(
            run.config,
            project,
            self.outside,
            models,
            self.journal,
            self.ledger,
            templates,
            self.thinking,
        )
        self._live = set[str]()

    async def perform(self, action: SpawnAgent) -> AsyncGenerator[Landed]:
        """Perform the action. The answers of a wave are applied in the order of its tasks,
        whichever came first.
        """
        tasks = action.parallel_task_ids or (None,)
        await asyncio.to_thread(self.access.renew, self.models[action.tier].name)
        self._began(action, tasks)
        await self.discover()
        async with AsyncExitStack() as trees:
            lane = self.lane_of(action)
            for task in tasks if lane is not None else ():
                self.journal.carry(place_of(action.action_id, task))
            worktrees = [await self.worktree(action, task, trees) for task in tasks]
            agents = [
                asyncio.create_task(self._work(action, task, worktree, lane))
                for task, worktree in zip(tasks, worktrees, strict=True)
            ]
            trees.push_async_callback(_end_agents, agents)
            stops = AgentStops()
            for task, worktree, agent in zip(tasks, worktrees, agents, strict=True):
                finished = await stops.ended(agent)
                if finished is not None and stops.lands:
                    yield await asyncio.to_thread(
                        self.reports.landed, action, task, finished, worktree
                    )
            if lane is not None:
                await asyncio.to_thread(self._keep)
            stops.raise_reason()

    def acting(self, action: Exec) -> Act:
        """Return the performer of an action's calls that may change something.

        It is called in threads; servers and the models of a skill belong to the event loop of
        this thread.
        """
        loop = asyncio.get_running_loop()

        def act(wanted: CapabilityRequest, limit: int) -> tuple[CapabilityResult, bool]:
            if wanted.capability not in self.outside.catalogue.skill_definitions:
                called = self.outside.calls.act(wanted, limit)
                return asyncio.run_coroutine_threadsafe(called, loop).result()
            work = Assignment(
                action_id=action.action_id,
                agent=PERFORMER,
                phase=action.phase,
                task=action.task,
                began=beginning(wanted.capability, wanted.params),
                limits=WorkLimits(result_chars=limit),
            )
            place = SkillPlace(work, self.run.ref, self.worktrees.own.context)
            performed = self.skills.execute_skill(wanted, place)
            result = asyncio.run_coroutine_threadsafe(performed, loop).result()
            return result, result.status is ResultStatus.TIMEOUT

        return act

    async def discover(self) -> None:
        """Offer the providers, and configured tools and skills, in the prompts of all agents."""
        await self.outside.discover()
        self.prompts.capabilities = tuple(map(describe_capability, self._specs))
        self.prompts.menu_notes = self.outside.menu_notes

    @property
    def _specs(self) -> tuple[CapabilitySpec, ...]:
        return get_capability_specs(self.worktrees.own.context.catalogue(), self.outside.catalogue)

    def lane_of(self, action: SpawnAgent) -> BatchLane | None:
        """Return the batches that the action's questions go into, if they do."""
        batch = self.run.state.flags.batch
        return self.lane if self.run.pipeline.in_batches(action.phase, batch=batch) else None

    async def worktree(
        self, action: SpawnAgent, task: TaskId | None, trees: AsyncExitStack
    ) -> AgentWorktree:
        """Return the tree of an agent.

        It is a separate one if the agent changes files in parallel with others, or in a wave that
        is partly merged; else the run's own.
        """
        if task is None or not self.run.pipeline.implements(action.phase):
            return self.worktrees.own
        base = await asyncio.to_thread(self.run.wave_base, action)
        alone = action.parallel_task_ids == (task,) and base == self.run.tree.head().commit
        return (
            self.worktrees.own
            if alone
            else await trees.enter_async_context(self.worktrees.apart(task, base))
        )

    def _began(self, action: SpawnAgent, tasks: tuple[TaskId | None, ...]) -> None:
        label = self.run.pipeline.phase(action.phase).label
        names = tuple(task for task in tasks if task is not None)
        round_ = max(self.prompts.round(action, task) for task in tasks)
        self.tell(
            PhaseBegan(
                phase=action.phase, label=label, agent=action.agent, tasks=names, round=round_
            )
        )

    def _keep(self) -> None:
        """Commit the questions that wait for a batch, and push them."""
        self.run.keep()
        self.delivered()

    def _without_batches(self, model: str) -> None:
        if model not in self._live:
            self._live.add(model)
            self.tell(
                warning(
                    f"{model} offers no batches here, so it is asked at once, at the usual price"
                )
            )

    async def _work(
        self,
        action: SpawnAgent,
        task: TaskId | None,
        worktree: AgentWorktree,
        lane: BatchLane | None,
    ) -> WorkResult:
        began = await asyncio.to_thread(self._beginning, action, task)
        assignment = self.assignment(action, task, began)
        contract = answer_contract(self.run, action, task)
        images = self._images(action, task)
        finished = await converse(
            assignment,
            lambda: self._opening(action, task, worktree, [image for image, _ in images], lane),
            model=self.models[action.tier],
            context=self.context(assignment, worktree, lane),
            journal=self.journal,
            ledger=self.ledger,
            check=self.applier.check(contract, worktree.tree),
            run_commands=lambda edits: self._try(action, task, edits, worktree),
            notice=lambda notice: self.thinking(notice, task),
            leave_actions=self.leave_actions,
            lane=lane,
            images={image.digest: data for image, data in images},
        )
        return available(finished)

    def _beginning(self, action: SpawnAgent, task: TaskId | None) -> str:
        """Return the digest of the documents, code and answers that the work begins from."""
        run, state = self.run, self.run.state
        names = self.prompts.inputs.names(action, state.task(task))
        documents = [(name, blob_id(run.workspace.read_bytes(name) or b"")) for name in names]
        code = tree_without(run.repository.root, run.wave_base(action), SPECS)
        notes = [note for note in state.notes if note.task in {None, task}]
        answers = [
            (decision.gate, decision.answer, decision.notes, decision.chosen, decision.condition)
            for decision in (*state.decisions, *state.sent_back)
        ]
        return beginning(documents, code, answers, [(note.phase, note.text) for note in notes])

    def _images(self, action: SpawnAgent, task: TaskId | None) -> tuple[tuple[Image, bytes], ...]:
        """Return the images of the request for an agent that reads it."""
        names = self.prompts.inputs.names(action, self.run.state.task(task))
        model = self.run.config.model_for(action.tier)
        return images_for(self.run, model) if REQUEST in names else ()

    async def _opening(
        self,
        action: SpawnAgent,
        task: TaskId | None,
        worktree: AgentWorktree,
        images: Sequence[Image],
        lane: BatchLane | None,
    ) -> tuple[ChatMessage, ...]:
        settings = self.run.config.agent
        turns = (settings.turns, settings.requests_per_turn)
        prompt, material = await asyncio.to_thread(
            self.prompts.prompt, action, task, turns, settings.prompt_tokens, worktree.commit
        )
        fresh = opening(prompt, material.inputs, self.tell, task, images)
        pipeline, state, plan = self.run.pipeline, self.run.state, self.run.pipeline.approved_first
        if plan is None or lane is not None or not may_correct(pipeline, state, action.phase):
            return fresh
        # A draft is read minutes after it was written, so a provider's cache has what its author
        # was shown.
        authors = [
            phase.id
            for phase in pipeline.phases
            if phase is plan or plan in pipeline.also_written(phase.id, state.effort)
        ]
        before = self.journal.looked_around(authors, self.models[action.tier].name)
        return continued(before, fresh, _LETTERS * settings.prompt_tokens)

    def context(
        self, assignment: Assignment, worktree: AgentWorktree, lane: BatchLane | None
    ) -> ToolContext:
        """Return everything that the agent may ask for."""
        place = SkillPlace(assignment, worktree.commit, worktree.context, lane)
        return ToolContext(
            worktree.context,
            self.outside.calls,
            lambda wanted: self.skills.execute_skill(wanted, place),
            settled_calls(self.run.state),
        )

    def _try(
        self, action: SpawnAgent, task: TaskId | None, edits: Try, worktree: AgentWorktree
    ) -> TryOutcome:
        """Run the project's commands on a task's edits, except those that wait for a person."""
        files = self.applier.plan(edits.answer, worktree.tree).files
        if not files or self.applier.held_paths(tuple(path for path, _ in files)):
            return TryOutcome()
        outcome = self.tries.edits(task, worktree.commit, files, edits.seconds)
        self.tries.say(task, outcome, action.agent, last=edits.last)
        return outcome

    def assignment(self, action: SpawnAgent, task: TaskId | None, began: str) -> Assignment:
        """Return the work of an action, or of one of its tasks."""
        kind = self._kind_of_answer(action)
        return Assignment(
            action_id=action.action_id,
            agent=action.agent,
            phase=action.phase,
            task=task,
            round=self.prompts.round(action, task),
            tier=action.tier,
            began=began,
            kind=kind,
            providers=self._list_offered(action),
            running=tuple(spec.name for spec in self._specs if spec.effect is not Effect.READS),
            outside=self.outside.looked_up,
            limits=WorkLimits(
                command_seconds=self.project.most_seconds + self.outside.skill_seconds,
                tries=self.run.config.tries.most
                if self.tries.possible and kind is not AnswerKind.DOCUMENT
                else 0,
                try_seconds=self.run.config.tries.seconds,
                **self.run.config.agent.model_dump(),
            ),
        )

    def _kind_of_answer(self, action: SpawnAgent) -> AnswerKind:
        pipeline = self.run.pipeline
        if pipeline.implements(action.phase):
            return AnswerKind.CHANGE
        drafts = may_draft(pipeline, self.run.state, action.phase)
        return AnswerKind.EITHER if drafts else AnswerKind.DOCUMENT

    def _list_offered(self, action: SpawnAgent) -> tuple[str, ...]:
        """Return the names that an agent may ask for."""
        phase = self.run.pipeline.phase(action.phase)
        globs = phase.providers if isinstance(phase, AnsweringPhase) else ()
        offered = (entry.name for entry in self.prompts.capabilities)
        return tuple(name for name in offered if matches_a_glob(name, globs))


async def _end_agents(agents: "list[asyncio.Task[WorkResult]]") -> None:
    """End all agents of a wave when the block is left, for any reason."""
    for agent in agents:
        agent.cancel()
    await asyncio.gather(*agents, return_exceptions=True)
