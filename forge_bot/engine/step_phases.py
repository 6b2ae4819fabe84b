"""Makes the phases of a run from a pipeline of steps."""

from collections.abc import Iterator

from forge_bot.engine.phases import (
    AgentPhase,
    AnyPhase,
    DecisionPhase,
    EndPhase,
    GatePhase,
    PublishPhase,
    StepPhase,
)
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.steps import Step, StepPipeline
from forge_bot.values import Effort, PhaseId

AGENT = "step-writer"
"""The agent of steps of kind llm."""


def phases_of(steps: StepPipeline) -> Pipeline:
    """Return the pipeline that a run of these steps is.

    Before a step that asks stands a phase that writes the question. A pipeline that writes files
    ends with a pull request.
    """
    phases = [phase for step in steps.steps for phase in _phases(steps, step)]
    if any(step.kind == "fs_write" for step in steps.steps):
        phases.append(
            PublishPhase(
                id=PhaseId("publish"),
                kind="publish",
                label="PR Creation",
                operation="pull-request",
                skip_when="no-pull-request",
            )
        )
    phases += [
        PublishPhase(
            id=PhaseId("commit"), kind="publish", label="Final Commit", operation="final-commit"
        ),
        EndPhase(id=PhaseId("completed"), kind="end", label="Completed"),
        DecisionPhase(id=PhaseId("decision"), kind="decision", label="Human Decides"),
    ]
    return Pipeline(
        kind="phases",
        id=steps.pipeline_id,
        title=steps.title or steps.pipeline_id,
        flows=dict.fromkeys(Effort, "steps"),
        phases=tuple(phases),
        steps=steps,
    )


def _phases(steps: StepPipeline, step: Step) -> Iterator[AnyPhase]:
    if step.asks:
        asking = PhaseId(f"{step.step}-question")
        yield StepPhase(
            id=asking,
            kind="step",
            label=f"Question: {step.label}",
            step=step,
            asks=True,
            writes=step.question,
        )
        first = steps.steps[0]
        back = PhaseId(f"{first.step}-question" if first.asks else first.step)
        # A question of a step that does something itself has a name of its own.
        alone = step.kind in {"elicitation", "human"}
        yield GatePhase(
            id=PhaseId(step.step if alone else f"{step.step}-gate"),
            kind="gate",
            label=step.label,
            shows=(step.question,),
            sends_back_to=back,
        )
    if step.kind == "llm":
        yield AgentPhase(
            id=PhaseId(step.step),
            kind="agent",
            label=step.label,
            agent=AGENT,
            tier=step.tier,
            reads=tuple(producer.document for producer in steps.producers(step)),
            writes=step.document,
            caption=step.label,
            instruction=step.prompt or "",
        )
    elif step.kind not in {"elicitation", "human"}:
        yield StepPhase(
            id=PhaseId(step.step), kind="step", label=step.label, step=step, writes=step.document
        )
