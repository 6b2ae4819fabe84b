"""The calls of steps with their arguments, and what is checked of a pipeline before it runs: names,
calls, and a person's approval before every effect. A path or an argument that does not fit fails
when its step runs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from forge_bot.engine.steps import INPUTS, PROJECT, REQUEST, StepPipeline
from forge_bot.values import Frozen

WRITE = "fs_write_file"

Problem = tuple[tuple[str | int, ...], str]
"""A place in the file, and its problem."""


class NoArguments(Frozen):
    """Nothing is taken."""


class QueryArguments(Frozen):
    """A question to the project's graph."""

    name: str = ""
    tier: str = ""
    kind: str = ""
    domain: str = ""
    of: str = ""
    touches: tuple[str, ...] = ()


class VerifyArguments(Frozen):
    """The project whose rules are looked at; there is only the run's."""

    project_path: str = ""


class ScaffoldArguments(Frozen):
    """A file that is wanted."""

    name: str
    kind: str = "module"
    stack: str = ""
    purpose: str = ""


class GraphFindingArguments(Frozen):
    """One finding in the graph."""

    code: str
    node: str
    message: str
    path: str
    line: int
    dependency_ids: list[str]


class AnnotateArguments(Frozen):
    """The findings that are to be kept."""

    findings: list[GraphFindingArguments]


class FileToWrite(Frozen):
    """A file with its text."""

    path: str
    content: str


class WriteArguments(Frozen):
    """A file, or several."""

    path: str = ""
    content: str = ""
    files: tuple[FileToWrite, ...] = ()


TOOLS: Mapping[str, type[BaseModel]] = {
    "forge_orient": NoArguments,
    "forge_query": QueryArguments,
    "forge_scan": NoArguments,
    "forge_verify": VerifyArguments,
    "forge_scaffold": ScaffoldArguments,
    "forge_annotate": AnnotateArguments,
}
"""The arguments of each tool."""

RESOURCES = (
    "forge://project/{project_id}/context",
    "forge://project/{project_id}/manifest",
    "forge://project/{project_id}/annotations",
    "forge://glove/{kind}/{stack}",
)


def resource_at(address: str) -> str | None:
    """Return the address with placeholders that an address fits; None if there is none."""
    parts = address.split("/")
    for known in RESOURCES:
        wanted = known.split("/")
        if len(parts) == len(wanted) and all(
            there == part or (there.startswith("{") and part)
            for there, part in zip(wanted, parts, strict=True)
        ):
            return known
    return None


def problems_of(pipeline: StepPipeline) -> list[Problem]:
    """Return all problems of a pipeline that are known before a run."""
    return [*_names(pipeline), *_inputs(pipeline), *_steps(pipeline)]


def _names(pipeline: StepPipeline) -> Iterator[Problem]:
    for word, names in (
        ("step", [step.step for step in pipeline.steps]),
        ("as", [step.gives for step in pipeline.steps]),
    ):
        for place, name in enumerate(names):
            if Counter(names)[name] > 1 and name in names[:place]:
                yield ("steps", place, word), f"{name!r} stands twice"
            elif name in {PROJECT, INPUTS, "completed", "decision", "commit", "publish"}:
                yield ("steps", place, word), f"{name!r} is a name of forge-bot's own"


def _inputs(pipeline: StepPipeline) -> Iterator[Problem]:
    for name, given in pipeline.inputs.items():
        if name == REQUEST:
            yield ("inputs", name), "every run has this input: its task in words"
        if given.choices and given.default is not None and given.default not in given.choices:
            yield ("inputs", name, "default"), f"{given.default!r} is not among the choices"


def _steps(pipeline: StepPipeline) -> Iterator[Problem]:
    asked = False
    for place, step in enumerate(pipeline.steps):
        asked = asked or step.asks
        if step.kind == "resource" and resource_at(step.resource or "") is None:
            yield ("steps", place, "resource"), f"there is no resource {step.resource!r}"
        elif step.kind == "tool" and step.tool not in TOOLS:
            known = ", ".join(TOOLS)
            yield ("steps", place, "tool"), f"there is no tool {step.tool!r}; tools: {known}"
        elif step.kind == "fs_write" and not asked:
            yield (
                ("steps", place),
                "it writes, and no step before it asks a person: set `gate: true`",
            )
