"""The inputs of steps: inputs from the request, outputs of earlier steps, facts of the project."""

import json
import re
from collections.abc import Callable, Mapping
from typing import cast

from pydantic import JsonValue

from forge_bot.engine.steps import INPUTS, PROJECT, REQUEST, Step, StepInput, StepPipeline
from forge_bot.errors import StepFailed
from forge_bot.runs.run import Run

_NUMBER = re.compile(r"[+-]?\d+")
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


def inputs_of(pipeline: StepPipeline, text: str) -> dict[str, JsonValue]:
    """Return the inputs that a request gives in lines `name: value`, and its words as `request`.

    Raises StepFailed for one that is missing or has no value of its type.
    """
    values: dict[str, JsonValue] = {REQUEST: text.strip()}
    problems: list[str] = []
    for name, wanted in pipeline.inputs.items():
        before, plain = r"^(?:[^\S\n]|[*>-])*", re.escape(name)
        line = re.compile(rf"{before}`?{plain}`?[^\S\n]*[:=]\s*(\S.*)$", re.MULTILINE)
        match = line.search(text)
        written_value = match[1].rstrip().strip("`\"'") if match is not None else ""
        value = _value(written_value, wanted) if written_value else wanted.default
        if value is None or (wanted.choices and value not in wanted.choices):
            problems.append(_lacking(name, written_value, wanted))
        values[name] = value
    if problems:
        given = "; ".join(problems)
        raise StepFailed(
            f"The pipeline {pipeline.pipeline_id} needs its inputs: {given}.",
            hint="Give each in the task, in a line of its own: `name: value`.",
        )
    return values


def _value(written_value: str, wanted: StepInput) -> JsonValue:
    match wanted.type:
        case "string":
            return written_value
        case "integer":
            return int(written_value) if _NUMBER.fullmatch(written_value) else None
        case "boolean":
            return _TRUTH.get(written_value.lower())


def _lacking(name: str, written_value: str, wanted: StepInput) -> str:
    what = f"one of {', '.join(wanted.choices)}" if wanted.choices else wanted.type
    about = f", {wanted.description}" if wanted.description else ""
    return f"{name} ({what}{about}){f', not {written_value!r}' if written_value else ''}"


class StepValues:
    """Resolves the inputs of steps. `ahead` computes the output of a step that has not run yet."""

    def __init__(
        self,
        run: Run,
        pipeline: StepPipeline,
        project: Mapping[str, JsonValue],
        ahead: Callable[[Step], JsonValue] | None = None,
    ) -> None:
        self._run = run
        self._pipeline = pipeline
        self._project = dict(project)
        self._ahead = ahead

    def arguments(self, step: Step) -> dict[str, JsonValue]:
        """Return the arguments of a step. Raises StepFailed for one without a value."""
        import jmespath
        from jmespath.exceptions import JMESPathError

        known = self._list_known(step)
        arguments: dict[str, JsonValue] = {}
        for name, path in step.input_map.items():
            try:
                value = cast("JsonValue", jmespath.search(path, known))
            except JMESPathError as error:
                raise StepFailed(f"{step.step}: {name}: {path!r}: {error}") from error
            if value is None and step.required:
                raise StepFailed(f"{step.step}: {name}: {path!r} gives nothing.")
            if value is not None:
                arguments[name] = value
        return arguments

    def _list_known(self, step: Step) -> dict[str, JsonValue]:
        request = self._run.request
        known: dict[str, JsonValue] = {
            PROJECT: self._project,
            INPUTS: inputs_of(self._pipeline, f"{request.title}\n{request.text}"),
        }
        for other in self._pipeline.producers(step):
            known[other.gives] = self._output(other)
        return known

    def _output(self, step: Step) -> JsonValue:
        if self._ahead is not None and step.document not in self._run.state.artifacts:
            return self._ahead(step)
        raw = self._run.workspace.read_bytes(step.document)
        if raw is None or step.document not in self._run.state.artifacts:
            return None
        if step.kind == "llm":
            return {"text": raw.decode("utf-8", "replace")}
        try:
            return cast("JsonValue", json.loads(raw))
        except ValueError as error:
            raise StepFailed(f"{step.document} is not JSON any more: {error}") from error
