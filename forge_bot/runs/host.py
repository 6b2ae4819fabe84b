"""The local host: performs what the engine asks for on this machine, with models and the project's own commands."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping

from forge_bot.agent.answers import AnswerKind
from forge_bot.agent.assignment import Assignment, Finished, StopReason
from forge_bot.agent.context.repository import Context
from forge_bot.agent.journal import Journal
from forge_bot.agent.ledger import Ledger
from forge_bot.agent.limits import Limits
from forge_bot.agent.models.base import Model
from forge_bot.agent.notices import Asking
from forge_bot.agent.notices import Notice as ModelNotice
from forge_bot.agent.work import work
from forge_bot.checkout import blob_id
from forge_bot.engine import Action, Checkpoint, Done, Exec, HumanGate, SpawnAgent, State, WriteFile, drive
from forge_bot.engine.artifacts import inspect
from forge_bot.engine.reports import (
    ActionFailed,
    AgentFailed,
    ArtifactWritten,
    CommandsRan,
    FailureReason,
    Prepared,
    Published,
    Report,
)
from forge_bot.engine.values import TaskId, Tier
from forge_bot.errors import GitFailed, ModelUnavailable
from forge_bot.prompts.environment import Environment
from forge_bot.prompts.material import Material, Prompt
from forge_bot.runs.brief import Briefing
from forge_bot.runs.clock import now
from forge_bot.runs.landing import Landing, contract_of
from forge_bot.runs.menu import shown
from forge_bot.runs.notices import PhaseBegan, PhaseEnded, PromptSent, Said, Tell, Thinking
from forge_bot.runs.project import Project
from forge_bot.runs.publish import Publisher
from forge_bot.runs.risks import setup_risks
from forge_bot.runs.run import Run
from forge_bot.runs.verification_report import section

_WHY: Mapping[StopReason, FailureReason] = {
    StopReason.MODEL_REFUSED: FailureReason.REFUSED,
    StopReason.MODEL_TRUNCATED: FailureReason.TRUNCATED,
    StopReason.MODEL_MALFORMED: FailureReason.MALFORMED,
    StopReason.BUDGET: FailureReason.BUDGET,
}
"""How the end of an agent's work is reported; what is not named here is a limit."""


class LocalHost:
    """Performs the actions of one run, one after the other."""

    def __init__(
        self,
        run: Run,
        project: Project,
        models: Mapping[Tier, Model],
        templates: Environment,
        tell: Tell,
        *,
        environ: Mapping[str, str],
        push: bool = False,
    ) -> None:
        self.run = run
        self.project = project
        self.models = models
        self.tell = tell
        self.journal = Journal(run.places.journal, environ)
        self.ledger = Ledger(run.state.budget)
        self.landing = Landing(run)
        self.publisher = Publisher(run, push=push)
        self.context = Context(
            run.tree.path,
            base=run.state.base_commit,
            past_runs=self._past_runs,
            run_tests=project.run_tests if project.profile.commands.test else None,
            lint_check=project.lint if project.profile.commands.lint else None,
        )
        capabilities = [shown(entry) for entry in self.context.catalogue()]
        self.briefing = Briefing(run, project.profile, templates, capabilities)
        self._paths: tuple[str, ...] = ()
        self._unpriced = False

    async def go_on(self) -> Action:
        """Perform until a person is asked or nothing is left; the action that is not this host's to do."""
        try:
            _, action = await drive(self.run.pipeline, self.run.state, self._perform, self._record)
        except asyncio.CancelledError:
            self.project.call_off()
            raise
        return action

    def _past_runs(self, query: str) -> str:
        return self.briefing.past_runs(query)

    async def _record(self, report: Report, state: State) -> None:
        paths, self._paths = self._paths, ()
        trailers = (("Forge-Task", report.task),) if isinstance(report, ArtifactWritten) and report.task is not None else ()
        await asyncio.to_thread(self.run.record, report, state, paths, trailers)
        if isinstance(report, ArtifactWritten):
            self._told(report)

    def _told(self, report: ArtifactWritten) -> None:
        inspection = report.inspection
        good = not inspection.problems and (inspection.verdict is None or inspection.verdict.positive)
        label = self.run.pipeline.phase(report.phase).label
        self.tell(
            PhaseEnded(
                phase=report.phase,
                label=label,
                result=report.artifact,
                usage=report.usage,
                task=report.task,
                verdict=inspection.verdict,
                good=good,
            )
        )

    async def _perform(self, state: State, action: Action) -> AsyncIterator[Report]:
        match action:
            case SpawnAgent():
                for task in action.parallel_task_ids or (None,):
                    yield await self._agent(action, task)
            case Exec():
                self._began(action, task=action.task)
                yield await asyncio.to_thread(self._execute, state, action)
            case WriteFile():
                self._began(action)
                yield self._write(action)
            case Checkpoint() | HumanGate() | Done():
                return

    def _began(self, action: Exec | WriteFile | SpawnAgent, *, task: TaskId | None = None) -> None:
        label = self.run.pipeline.phase(action.phase).label
        if not isinstance(action, SpawnAgent):
            self.tell(PhaseBegan(phase=action.phase, label=label, task=task))
            return
        self.tell(PhaseBegan(phase=action.phase, label=label, agent=action.agent, task=task, round=self.briefing.round(action, task)))

    # -- agents ----------------------------------------------------------------------------------------------------

    async def _agent(self, action: SpawnAgent, task: TaskId | None) -> Report:
        self._began(action, task=task)
        settings = self.run.config.agent
        turns = (settings.turns, settings.requests_per_turn)
        prompt, material = await asyncio.to_thread(self.briefing.prompt, action, task, turns, settings.prompt_tokens)
        names = tuple(entry.name for entry in material.inputs)
        self.tell(PromptSent(inputs=names, tokens=prompt.tokens, dropped=prompt.dropped, removed=prompt.removed))
        contract = contract_of(self.run, action)
        finished = await work(
            self._assignment(action, task, prompt, material),
            model=self.models[action.tier],
            context=self.context,
            journal=self.journal,
            ledger=self.ledger,
            check=lambda answer: self.landing.complaints(answer, contract),
            notice=self._thinking,
            now=time.monotonic,
        )
        return await asyncio.to_thread(self._landed, action, task, finished)

    def _thinking(self, notice: ModelNotice) -> None:
        if isinstance(notice, Asking) and notice.reserved is None and self.ledger.budget.cap is not None and not self._unpriced:
            self._unpriced = True
            self.tell(Said(text=f"the price of {notice.model} is unknown, so the budget cannot hold it back", kind="warning"))
        self.tell(Thinking(notice=notice))

    def _assignment(self, action: SpawnAgent, task: TaskId | None, prompt: Prompt, material: Material) -> Assignment:
        settings = self.run.config.agent
        implementing = action.phase == self.run.pipeline.implementation.id
        return Assignment(
            action_id=action.action_id,
            agent=action.agent,
            phase=action.phase,
            task=task,
            round=material.round,
            tier=action.tier,
            system=prompt.system,
            user=prompt.user,
            kind=AnswerKind.CHANGE if implementing else AnswerKind.DOCUMENT,
            providers=tuple(entry.name for entry in material.capabilities),
            limits=Limits(
                turns=settings.turns,
                requests_per_turn=settings.requests_per_turn,
                total_input_tokens=settings.input_tokens,
                output_tokens=settings.output_tokens,
                seconds=settings.seconds,
            ),
        )

    def _landed(self, action: SpawnAgent, task: TaskId | None, finished: Finished) -> Report:
        if finished.stop is StopReason.MODEL_UNAVAILABLE:
            # Nothing is wrong with the run: it stands where it stood, and goes on when the model is there again.
            raise ModelUnavailable(finished.message)
        answer = finished.answer or finished.rejected
        if answer is not None and not self.landing.unplaceable(answer):
            report, self._paths = self.landing.land(action, task, answer, finished.usage)
            return report
        return AgentFailed(
            key=f"{action.action_id}/{task}" if task is not None else action.action_id,
            at=now(),
            action_id=action.action_id,
            phase=action.phase,
            task=task,
            reason=FailureReason.UNFIT if answer is not None else _WHY.get(finished.stop, FailureReason.LIMIT),
            message=_why_not(finished),
            usage=finished.usage,
        )

    # -- everything else -------------------------------------------------------------------------------------------

    def _write(self, action: WriteFile) -> ArtifactWritten:
        raw = self.run.workspace.write(action.path, action.content)
        return ArtifactWritten(
            key=action.action_id,
            at=now(),
            action_id=action.action_id,
            phase=action.phase,
            artifact=action.path,
            blob=blob_id(raw),
            inspection=inspect(action.content, headings=(), tasks=True),
        )

    def _execute(self, state: State, action: Exec) -> Report:
        try:
            return self._executed(state, action)
        except GitFailed as error:
            return ActionFailed(key=action.action_id, at=now(), action_id=action.action_id, message=f"{error.message} {error.advice}")

    def _executed(self, state: State, action: Exec) -> Report:
        name = action.action_id
        match action.operation:
            case "prepare":
                results = self.project.set_up()
                ready = all(result.exit_code == 0 for result in results)
                checks = self.project.check() if ready else ()
                risks = setup_risks(self.project.profile, self.run.config)
                return Prepared(key=name, at=now(), action_id=name, results=(*results, *checks), risks=risks)
            case "verify":
                results = (*(result for result in self.project.set_up() if result.exit_code != 0), *self.project.check())
                artifact = action.artifact or "final-verification.md"
                raw = self.run.workspace.write(artifact, f"# Final verification\n\n{section(results, state.baseline)}")
                return CommandsRan(key=name, at=now(), action_id=name, results=results, artifact=artifact, blob=blob_id(raw))
            case "apply-held":
                return self._apply_held(state, action)
            case "pull-request" | "post-to-source" | "final-commit":
                detail, url = self.publisher.publish(action.operation)
                self.tell(Said(text=detail))
                return Published(key=name, at=now(), action_id=name, detail=detail, url=url)

    def _apply_held(self, state: State, action: Exec) -> Report:
        task = action.task or TaskId("")
        self._paths = self.landing.apply_held(task)
        artifact = self.run.pipeline.implementation.writes.replace("{task}", task)
        return ArtifactWritten(
            key=f"{action.action_id}/{task}",
            at=now(),
            action_id=action.action_id,
            phase=action.phase,
            task=task,
            artifact=artifact,
            blob=state.artifacts[artifact].blob,
        )


def _why_not(finished: Finished) -> str:
    words = finished.message or f"The agent ended without an answer: {finished.stop.value}."
    return f"{words} Last complaint: {finished.complaints[0]}" if finished.complaints else words
