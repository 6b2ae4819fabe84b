"""Checks a pipeline of steps before a run begins.

Every path must begin at something that is known before its step, and every argument must be one of
its call. Every effect needs a person's approval before it. What a path gives shows when it runs.
"""

from collections import Counter
from collections.abc import Iterator
from typing import assert_never

from forge_bot.engine.expressions import UnknownPath, names_in
from forge_bot.engine.step_contracts import TOOLS, WRITE, StepContract, resource_at
from forge_bot.engine.steps import Step, StepPipeline

Place = tuple[str | int, ...]
Problem = tuple[Place, str]
"""A place in the file, and its problem."""

PROJECT, INPUTS = "project", "inputs"
REQUEST = "request"
"""The input that every run has: its task in words."""


def problems_of(pipeline: StepPipeline) -> list[Problem]:
    """Return all problems of a pipeline, in the order of the file."""
    return [*_names(pipeline), *_inputs(pipeline), *_steps(pipeline)]


def contract_of_step(step: Step) -> StepContract | None:
    """Return the contract of a step that calls a tool or writes; None for the other kinds."""
    match step.kind:
        case "tool":
            return TOOLS.get(step.tool or "")
        case "fs_write":
            return TOOLS[WRITE]
        case "resource" | "llm" | "elicitation" | "human":
            return None
        case _:
            assert_never(step.kind)


def has_effect(step: Step) -> bool:
    """Return whether the step changes something for good."""
    contract = contract_of_step(step)
    return contract is not None and contract.effect


def producers(step: Step, pipeline: StepPipeline) -> tuple[Step, ...]:
    """Return the steps whose output a step takes."""
    names = {name for path in step.input_map.values() for name in names_in(path)}
    return tuple(other for other in pipeline.steps if other.gives in names and other is not step)


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
    known = {PROJECT, INPUTS}
    asked = False
    for place, step in enumerate(pipeline.steps):
        at: Place = ("steps", place)
        asked = asked or step.asks
        for key, path in step.input_map.items():
            for problem in _path(path, known, pipeline):
                yield (*at, "input_map", key), problem
        yield from _call(step, at)
        if has_effect(step) and not asked:
            acts = "writes" if step.kind == "fs_write" else "opens issues"
            yield at, f"it {acts}, and no step before it asks a person: set `gate: true`"
        if has_effect(step):
            for problem in _unshown(pipeline, step):
                yield at, problem
        known.add(step.gives)


def _path(path: str, known: set[str], pipeline: StepPipeline) -> Iterator[str]:
    later = {step.gives for step in pipeline.steps} - known
    try:
        for name in names_in(path):
            if name in later:
                yield f"{path!r}: {name!r} is given by this step or a later one"
            elif name not in known:
                yield f"{path!r}: nothing gives {name!r}; there is {', '.join(sorted(known))}"
            elif name == INPUTS and (asked := _unknown_input(path, pipeline)):
                yield f"{path!r}: there is no input {asked!r}"
    except UnknownPath as problem:
        yield f"{path!r}: {problem}"


def _unknown_input(path: str, pipeline: StepPipeline) -> str:
    """Return the input that a plain path names and the pipeline does not have; "" if it has it."""
    name = path.strip().removeprefix(f"{INPUTS}.")
    return "" if not name.isidentifier() or name in {*pipeline.inputs, REQUEST, INPUTS} else name


def _call(step: Step, at: Place) -> Iterator[Problem]:
    if step.kind == "resource":
        yield from _resource(step, at)
        return
    contract = contract_of_step(step)
    if contract is None:
        if step.kind == "tool":
            yield (*at, "tool"), f"there is no tool {step.tool!r}; tools: {', '.join(TOOLS)}"
        return
    if step.kind == "fs_write" and step.tool not in {None, WRITE}:
        yield (*at, "tool"), f"files are written by {WRITE}"
    if step.kind == "tool" and step.tool == WRITE:
        yield (*at, "kind"), f"{step.tool} is called by a step of kind 'fs_write'"
    fields = {field.alias or name: field for name, field in contract.takes.model_fields.items()}
    for name, field in fields.items():
        if field.is_required() and name not in step.input_map:
            yield (*at, "input_map"), f"{name!r} is missing, which the step needs"
    for name in step.input_map:
        if name not in fields:
            yield (*at, "input_map", name), f"it takes no {name!r}; it takes {', '.join(fields)}"


def _resource(step: Step, at: Place) -> Iterator[Problem]:
    address = step.resource or ""
    if resource_at(address) is None:
        yield (*at, "resource"), f"there is no resource {address!r}"
    holes = placeholders(address)
    for name in holes:
        if name not in step.input_map and name != "project_id":
            yield (*at, "input_map"), f"{name!r} of the address is missing"
    for name in step.input_map:
        if name not in holes:
            yield (*at, "input_map", name), f"the address has no {{{name}}}"


def placeholders(address: str) -> tuple[str, ...]:
    """Return the names in braces of an address."""
    return tuple(part[1:-1] for part in address.split("/") if part.startswith("{"))


def _unshown(pipeline: StepPipeline, step: Step) -> Iterator[str]:
    """Yield a problem for each step after the question whose output cannot be shown before."""
    gates = [each for each in pipeline.steps if each.asks]
    gate = next((each for each in reversed(gates) if step in pipeline.behind(each)), None)
    if gate is None:
        return
    behind = pipeline.behind(gate)
    waiting, seen = list(producers(step, pipeline)), set[str]()
    while waiting:
        source = waiting.pop()
        if source.step in seen or source not in behind:
            continue
        seen.add(source.step)
        if source.kind == "llm" or has_effect(source):
            yield (
                f"it takes what {source.step!r} gives, which is not known when {gate.step!r}"
                " asks: set `gate: true` here"
            )
        waiting += producers(source, pipeline)
