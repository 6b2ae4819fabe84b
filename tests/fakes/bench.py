"""A host for the engine that performs nothing: it answers each action with the report a test asks
for.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from forge_bot.engine import (
    Checkpoint,
    Exec,
    HumanGate,
    SpawnAgent,
    WriteFile,
    advance,
    next_action,
    start,
)
from forge_bot.engine.actions import Action
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.reports import (
    ActionFailed,
    AgentFailed,
    Answer,
    Answered,
    ArtifactWritten,
    CommandsRan,
    FailureReason,
    GateShown,
    Prepared,
    Published,
    Report,
    RunFlags,
    RunStarted,
    head_of,
)
from forge_bot.engine.state import State
from forge_bot.settings.load_pipeline import load_pipeline
from forge_bot.values import (
    CommandName,
    CommandResult,
    Effort,
    Finding,
    Inspection,
    PhaseId,
    Problem,
    Severity,
    Source,
    TaskId,
    TaskSpec,
    Usage,
    Verdict,
)

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
SHIPPED = load_pipeline("develop", None)
_KNOWN = {
    "setup", "phase-1", "phase-2", "phase-3", "phase-3b", "checkpoint-a", "phase-4", "phase-4b", "checkpoint-b", "phase-5", "phase-6",
    "phase-7", "final-verification", "pr-creation", "final-summary", "post-to-source", "final-commit", "completed", "checkpoint-c",
}  # fmt: skip
DEVELOP = SHIPPED.model_copy(
    update={"phases": tuple(phase for phase in SHIPPED.phases if phase.id in _KNOWN)}
)
"""The shipped pipeline without phases that came later: what a test says of comments, rounds or
states does not depend on those."""
GREEN = CommandResult(
    name=CommandName.TEST, argv=("python3", "-m", "unittest"), exit_code=0, duration_ms=5, tests=3
)
RED = GREEN.model_copy(update={"exit_code": 1, "failures": ("test_login",)})
MISSING = Problem(place="Risks", message="the heading is missing", fatal=False)
BROKEN = Problem(place="", message="tasks 1 and 2 depend on each other", fatal=True)
MAJOR = Finding(severity=Severity.MAJOR, description="The empty body is not handled")
ONE_TASK = (
    TaskSpec(
        id=TaskId("1"), title="Fix the login", files=("login.py",), acceptance=("the test passes",)
    ),
)


def blob(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


@dataclass(repr=False)
class Bench:
    """One run on the bench. `reports` is everything that was told and counted."""

    effort: Effort = Effort.M
    flags: RunFlags = field(default_factory=RunFlags)
    source: Source = field(default_factory=Source)
    budget: Decimal | None = None
    budget_tokens: int | None = None
    pipeline: Pipeline = DEVELOP
    tasks: tuple[TaskSpec, ...] = ONE_TASK
    state: State = field(init=False)
    reports: list[Report] = field(init=False)
    ticks: int = 0

    def __post_init__(self) -> None:
        first = RunStarted(
            key="start",
            at=START,
            run="20261121-fix-login",
            pipeline=self.pipeline.id,
            title="Fix the login",
            effort=self.effort,
            effort_reason="asked for",
            source=self.source,
            flags=self.flags,
            branch="fix/fix-login",
            base_branch="main",
            base_commit="0" * 40,
            request_blob=blob("request"),
            request_hash="f" * 64,
            budget=self.budget,
            budget_tokens=self.budget_tokens,
            by="ann",
        )
        self.state = start(self.pipeline, first)
        self.reports = [first]

    # -- telling
    # ----------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        self.ticks += 1
        return START + timedelta(minutes=self.ticks)

    def tell(self, report: Report) -> State:
        self.state = advance(self.pipeline, self.state, report)
        self.reports.append(report)
        return self.state

    @property
    def action(self) -> Action:
        return next_action(self.pipeline, self.state)

    def _name(self, suffix: str = "") -> tuple[str, str]:
        name = self.action.action_id
        return f"{name}{suffix}", name

    def prepared(self, *results: CommandResult, risks: tuple[str, ...] = ()) -> State:
        key, name = self._name()
        return self.tell(
            Prepared(
                key=key, at=self.now(), action_id=name, results=results or (GREEN,), risks=risks
            )
        )

    def wrote(
        self,
        *,
        verdict: Verdict | None = None,
        findings: tuple[Finding, ...] = (),
        problems: tuple[Problem, ...] = (),
        task: TaskId | None = None,
        held: tuple[str, ...] = (),
        cost: Decimal | None = None,
        risks: tuple[str, ...] = (),
    ) -> State:
        """The outstanding agent (or one task of the wave) wrote its artifact."""
        action = self.action
        assert isinstance(action, SpawnAgent | WriteFile), action
        if isinstance(action, SpawnAgent) and action.parallel_task_ids and task is None:
            task = action.parallel_task_ids[0]
        plain = action.output_file if isinstance(action, SpawnAgent) else action.path
        artifact = plain.replace("{task}", task or "")
        phase = self.pipeline.phase(action.phase)
        usual = getattr(phase, "verdicts", None)
        inspection = Inspection(
            problems=problems,
            verdict=(verdict or usual[0]) if usual else None,
            findings=findings,
            tasks=self.tasks if artifact == "tasks.md" else (),
        )
        return self.tell(
            ArtifactWritten(
                **head_of(action.action_id, self.now(), task),
                phase=action.phase,
                task=task,
                artifact=artifact,
                blob=blob(f"{artifact} {self.ticks}"),
                inspection=inspection,
                usage=Usage(
                    calls=1,
                    input_tokens=1000,
                    output_tokens=100,
                    cost=cost if cost is not None else Decimal("0.01"),
                ),
                held=f"held-{task}.patch" if held else None,
                held_blob=blob(f"held {self.ticks}") if held else "",
                held_paths=held,
                risks=risks,
            )
        )

    def failed(
        self, reason: FailureReason = FailureReason.LIMIT, message: str = "gave up"
    ) -> State:
        action = self.action
        assert isinstance(action, SpawnAgent), action
        task = action.parallel_task_ids[0] if action.parallel_task_ids else None
        return self.tell(
            AgentFailed(
                **head_of(action.action_id, self.now(), task),
                phase=action.phase,
                task=task,
                reason=reason,
                message=message,
            )
        )

    def ran(self, *results: CommandResult) -> State:
        key, name = self._name()
        blob_ = blob(f"verification {self.ticks}")
        report = CommandsRan(
            key=key,
            at=self.now(),
            action_id=name,
            results=results or (GREEN,),
            artifact="final-verification.md",
            blob=blob_,
        )
        return self.tell(report)

    def published(self, url: str = "") -> State:
        key, name = self._name()
        return self.tell(
            Published(key=key, at=self.now(), action_id=name, detail="published", url=url)
        )

    def could_not(self) -> State:
        key, name = self._name()
        return self.tell(
            ActionFailed(key=key, at=self.now(), action_id=name, message="push rejected")
        )

    def show(self) -> str:
        action = self.action
        assert isinstance(action, Checkpoint), action
        self.tell(
            GateShown(
                key=f"shown-{self.ticks}",
                at=self.now(),
                gate=action.name,
                digest=action.digest,
                via="terminal",
            )
        )
        return action.digest

    def answer(self, answer: Answer, *, notes: str = "", digest: str | None = None) -> State:
        action = self.action
        assert isinstance(action, Checkpoint | HumanGate), action
        gate = action.name if isinstance(action, Checkpoint) else action.phase
        return self.tell(
            Answered(
                key=f"answer-{self.ticks}",
                at=self.now(),
                gate=PhaseId(gate),
                answer=answer,
                digest=digest,
                notes=notes,
                by="ann",
                via="terminal",
                action_id=action.action_id,
            )
        )

    def approve(self) -> State:
        return self.answer(Answer.APPROVE, digest=self.show())

    def reject(self, notes: str = "Handle the empty body too") -> State:
        self.show()
        return self.answer(Answer.REJECT, notes=notes)

    # -- going on
    # ----------------------------------------------------------------------------------------------

    def step(self) -> State:
        """Everything goes well with the outstanding action."""
        match self.action:
            case SpawnAgent() | WriteFile():
                return self.wrote()
            case Exec(operation="prepare"):
                return self.prepared()
            case Exec(operation="verify"):
                return self.ran()
            case Exec(operation="apply-held", task=task):
                name = self.action.action_id
                written = ArtifactWritten(
                    key=f"{name}/{task}",
                    at=self.now(),
                    action_id=name,
                    phase=PhaseId("phase-5"),
                    task=task,
                    artifact=f"impl-{task}.md",
                    blob=blob("x"),
                )
                return self.tell(written)
            case Exec():
                return self.published()
            case HumanGate():
                return self.answer(Answer.DONE)
            case Checkpoint(options=options):
                return self.approve() if "approve" in options else self.answer(Answer.ABANDON)
            case _:
                raise AssertionError(self.action)

    def until(self, phase: str) -> "Bench":
        """Go well until the outstanding action is about that phase (or gate)."""
        for _ in range(400):
            action = self.action
            if (
                action.name if isinstance(action, Checkpoint) else action.phase
            ) == phase or self.state.ended:
                return self
            self.step()
        raise AssertionError(f"{phase} was never reached")

    def finish(self) -> list[str]:
        """Go well to the end; the phases in the order their actions came."""
        seen: list[str] = []
        for _ in range(400):
            if self.state.ended:
                return seen
            action = self.action
            name = action.name if isinstance(action, Checkpoint) else action.phase
            seen.append(name)
            self.step()
        raise AssertionError("the run did not end")
