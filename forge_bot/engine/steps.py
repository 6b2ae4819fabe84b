"""The descriptor of a pipeline of steps: calls in order, each fed by what was given before it."""

import re
from typing import Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from forge_bot.values import Frozen, Tier

PROJECT, INPUTS = "project", "inputs"
REQUEST = "request"
"""The input that every run has: its task in words."""

StepKind = Literal["resource", "tool", "fs_write", "llm", "elicitation", "human"]


class StepInput(Frozen):
    """A value that a run of the pipeline is given with its task, as a line `name: value`."""

    type: Literal["string", "integer", "boolean"] = "string"
    description: str = ""
    choices: tuple[str, ...] = ()
    default: JsonValue = Field(default=None, description="without one, the input is required")

    @property
    def required(self) -> bool:
        """Return whether a run cannot begin without it."""
        return self.default is None


class Step(Frozen):
    """One step. `input_map` says by JMESPath what it takes from inputs and earlier steps."""

    model_config = ConfigDict(serialize_by_alias=True)

    step: str = Field(pattern=r"^[a-z][a-z0-9_]{0,40}$", description="its name; not `inputs`")
    kind: StepKind
    title: str = Field(default="", description="the step as people read it")
    required: bool = Field(
        default=True, description="a step that is not may fail; its output is then null"
    )
    gate: bool = Field(default=False, description="a person is asked before the step")
    resource: str | None = None
    tool: str | None = None
    elicitation_schema: str | None = Field(
        default=None, description="the name of what is confirmed, for the question"
    )
    prompt: str | None = Field(default=None, description="of an llm step: what is to be written")
    tier: Tier = Tier.STANDARD
    output: str = Field(default="", alias="as", description="the name of its output; else its own")
    input_map: dict[str, str] = Field(default_factory=dict[str, str])

    @model_validator(mode="after")
    def _says_what_to_call(self) -> Self:
        wanted = {"resource": self.resource, "tool": self.tool, "llm": self.prompt}
        if self.kind in wanted and not wanted[self.kind]:
            name = "prompt" if self.kind == "llm" else self.kind
            raise ValueError(f"a step of kind {self.kind!r} names its {name}")
        if self.kind == "human" and not self.title:
            raise ValueError("a step of kind 'human' says in its title what is to be done")
        return self

    @property
    def gives(self) -> str:
        """The name by which later steps take its output."""
        return self.output or self.step

    @property
    def label(self) -> str:
        """The step as people read it."""
        return self.title or self.step.replace("_", " ").capitalize()

    @property
    def asks(self) -> bool:
        return self.gate or self.kind in {"elicitation", "human"}

    @property
    def document(self) -> str:
        return f"{self.step}.md" if self.kind == "llm" else f"{self.step}.json"

    @property
    def question(self) -> str:
        """The artifact that a person is shown before it."""
        return f"{self.step}.question.md"


class StepPipeline(Frozen):
    """A sequence of steps."""

    kind: Literal["steps"] = "steps"
    pipeline_id: str
    title: str = ""
    inputs: dict[str, StepInput] = Field(default_factory=dict[str, StepInput])
    steps: tuple[Step, ...] = Field(min_length=1)

    def step(self, name: str) -> Step:
        """Return the step of that name. Raises KeyError if there is none."""
        for step in self.steps:
            if step.step == name:
                return step
        raise KeyError(name)

    def producers(self, step: Step) -> tuple[Step, ...]:
        """Return the earlier steps whose outputs the paths of a step name."""
        words = {word for path in step.input_map.values() for word in re.findall(r"\w+", path)}
        earlier = self.steps[: self.steps.index(step)]
        return tuple(other for other in earlier if other.gives in words)

    def gate_before(self, step: Step) -> Step:
        """Return the step that asks before this one. Raises StopIteration if none does."""
        return next(
            gate for gate in reversed(self.steps) if gate.asks and step in self.behind(gate)
        )

    def behind(self, gate: Step) -> tuple[Step, ...]:
        """Return the steps that a person's yes lets go on: up to the next question."""
        place = self.steps.index(gate)
        first = place if gate.kind not in {"elicitation", "human"} else place + 1
        behind: list[Step] = []
        for step in self.steps[first:]:
            if step.asks and step is not gate:
                break
            behind.append(step)
        return tuple(behind)
