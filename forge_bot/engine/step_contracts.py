"""The calls of steps, and what is checked of a pipeline before it runs: names, calls, and the
approval of a person before every effect. A path or an argument that does not fit fails when its
step runs.
"""

from collections import Counter
from collections.abc import Iterator

from forge_bot.engine.steps import INPUTS, PROJECT, REQUEST, StepPipeline
from forge_bot.values import Frozen

Problem = tuple[tuple[str | int, ...], str]
"""A place in the file, and its problem."""


class FileToWrite(Frozen):
    """A file with its text."""

    path: str
    content: str


class WriteArguments(Frozen):
    """A file, or several."""

    path: str = ""
    content: str = ""
    files: tuple[FileToWrite, ...] = ()


TOOLS = (
    "forge_orient",
    "forge_query",
    "forge_scan",
    "forge_verify",
    "forge_scaffold",
    "forge_annotate",
)
"""The calls of the project's graph."""

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
