"""The actions that the engine requests: a closed union. Each holds everything its host needs."""

from typing import Annotated, Literal

from pydantic import Field

from forge_bot.engine.state import GateFacts
from forge_bot.values import Frozen, PhaseId, TaskId, Tier

ExecOperation = Literal[
    "prepare",
    "apply-held",
    "call-tools",
    "verify",
    "step",
    "pull-request",
    "post-to-source",
    "final-commit",
]
"""The operations of our own process."""


class _Action(Frozen):
    action_id: str = Field(
        description="names this action in its report; the same until it is reported on"
    )
    phase: PhaseId


class SpawnAgent(_Action):
    """Let an agent write an artifact.

    With `parallel_task_ids`, start one agent for each of these tasks.
    """

    type: Literal["spawn_agent"] = "spawn_agent"
    agent: str
    tier: Tier
    round: int = Field(description="how often this phase (or task) has been asked, from 1")
    input_files: tuple[str, ...]
    output_file: str = Field(
        description="artifact to write; holds {task} when there are parallel_task_ids"
    )
    headings: tuple[str, ...]
    closing: tuple[str, ...] = Field(
        default=(), description="sections asked for besides, which the artifact may leave out"
    )
    parallel_task_ids: tuple[TaskId, ...] | None = None


class Checkpoint(GateFacts, _Action):
    """Ask a person."""

    type: Literal["checkpoint"] = "checkpoint"
    risks: tuple[str, ...]


class Exec(_Action):
    """Run an operation on the host. `commands` says how another host would do it by hand."""

    type: Literal["exec"] = "exec"
    operation: ExecOperation
    commands: tuple[str, ...]
    setup_only: bool = False
    task: TaskId | None = None
    artifact: str | None = Field(
        default=None,
        description="the patch to apply, the calls to make, the issues to open, or the artifact the"
        " results go into",
    )


class WriteFile(_Action):
    """Write an artifact that needs no model."""

    type: Literal["write_file"] = "write_file"
    path: str
    content: str
    setup_only: bool = True


class HumanGate(_Action):
    """Wait until a person has done something outside the run. The answer must name `action_id`."""

    type: Literal["human_gate"] = "human_gate"
    name: str
    task: TaskId
    title: str
    options: tuple[str, ...] = ("done", "skip", "abandon")


class Done(_Action):
    """The end of the run: nothing is left to do."""

    type: Literal["done"] = "done"
    outcome: Literal["done", "abandoned"]
    summary: str
    summary_path: str | None


WorkAction = SpawnAgent | WriteFile | Exec
"""What agents and commands do."""

PersonAction = Checkpoint | HumanGate
"""What a person does."""

Action = Annotated[
    SpawnAgent | Checkpoint | Exec | WriteFile | HumanGate | Done, Field(discriminator="type")
]
