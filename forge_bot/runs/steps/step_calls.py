"""The inputs of steps (from the request, earlier steps, the project), and their calls: resources
and tools, on the graph of the run's own commit.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from pydantic import BaseModel, JsonValue, ValidationError

from forge_bot.engine.step_contracts import (
    TOOLS,
    AnnotateArguments,
    QueryArguments,
    resource_at,
)
from forge_bot.engine.steps import INPUTS, PROJECT, REQUEST, Step, StepInput, StepPipeline
from forge_bot.errors import StepFailed
from forge_bot.project.graph.graph_documents import (
    annotation_file,
    annotations_document,
    main_stack,
    manifest_document,
    repo_map,
    scaffold,
    stack_document,
)
from forge_bot.project.graph.graph_query import GraphQuestion, ask_graph
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import GraphFinding, declared, scan, verify
from forge_bot.runs.project_commands.commit_profile import Profile, profile_at
from forge_bot.runs.run import Run

M = TypeVar("M", bound=BaseModel)

_MAP_TOKENS = 600
_FOUND = 500
"""Findings that a step gives."""


class StepCalls:
    """The calls of one run's steps. They change nothing."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._read: ProjectGraph | None = None

    @property
    def _graph(self) -> ProjectGraph:
        if self._read is None:
            self._read = GraphReader(self._run.repository).at(self._run.ref)
        return declared(self._read)[0]

    def project(self) -> dict[str, JsonValue]:
        """Return the values of the project that every step may use. The path is the root, as steps
        see it.
        """
        stack = main_stack(self._graph)
        name = self._run.repository.common_dir.parent.name
        return {"id": name, "path": ".", "stack": stack.slug if stack is not None else ""}

    def output(self, step: Step, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Return the result of a resource or a tool. Raises StepFailed, BadOption, BadManifest."""
        if step.kind == "resource":
            return self._resource(step, arguments)
        name = step.tool or ""
        return self._tools()[name](taken(TOOLS[name], step, arguments))

    def _resource(self, step: Step, arguments: Mapping[str, JsonValue]) -> JsonValue:
        address = step.resource or ""
        pattern = resource_at(address)
        if pattern is None:
            raise StepFailed(f"{step.step}: there is no resource {address}.")
        values = {
            hole[1:-1]: str(arguments.get(given[1:-1], "")) if given.startswith("{") else given
            for hole, given in zip(pattern.split("/"), address.split("/"), strict=True)
            if hole.startswith("{")
        }
        match pattern.rpartition("/")[2]:
            case "manifest":
                return manifest_document(*declared(self._graph))
            case "annotations":
                return annotations_document(self._graph)
            case "context":
                about = self.project()
                return {"project_id": about["id"], "project_path": ".", "text": self._context()}
            case _:
                return stack_document(values["kind"], values["stack"])

    def _profile(self) -> Profile:
        run = self._run
        return profile_at(run.repository, run.state.base_commit, run.config)

    def _context(self) -> str:
        profile = self._profile()
        languages = ", ".join(
            f"{language.name} ({language.percent}%)" for language in profile.languages
        )
        commands = [
            f"- {kind}: `{' '.join(command.argv)}`"
            for kind in ("build", "test", "lint")
            for command in getattr(profile.commands, kind)
        ]
        shown = repo_map(self._graph, _MAP_TOKENS)
        parts = (languages, "\n".join(commands), shown)
        return "\n\n".join(part for part in parts if part)

    def _tools(self) -> Mapping[str, Callable[[Any], JsonValue]]:
        return {
            "forge_orient": self._orient,
            "forge_query": self._query,
            "forge_scan": self._scan,
            "forge_verify": self._verify,
            "forge_scaffold": partial(scaffold, self._graph),
            "forge_annotate": self._annotate,
        }

    def _orient(self, _: BaseModel) -> JsonValue:
        about = self.project()
        code = sum(node.kind.is_code for node in self._graph.files.values())
        return {
            "project_id": about["id"],
            "project_path": ".",
            "branch": self._run.state.branch,
            "stack": about["stack"],
            "summary": f"{len(self._graph.files)} files, {code} of them code",
        }

    def _query(self, asked: QueryArguments) -> JsonValue:
        given = {name: value for name, value in asked.model_dump().items() if value}
        try:
            answer = ask_graph(self._graph, GraphQuestion.model_validate(given))
        except ValidationError as error:
            raise StepFailed(f"forge_query: {_first(error)}") from error
        nodes: list[JsonValue] = [node.model_dump(mode="json") for node in answer.nodes]
        return {"sentence": answer.sentence, "total": answer.total, "nodes": nodes}

    def _scan(self, _: BaseModel) -> JsonValue:
        findings = scan(self._graph)
        return {"total": len(findings), "findings": _outputs(findings)}

    def _verify(self, _: BaseModel) -> JsonValue:
        findings = verify(self._graph)
        return {
            "exit_code": 2 if findings else 0,
            "total": len(findings),
            "findings": _outputs(findings),
        }

    def _annotate(self, asked: AnnotateArguments) -> JsonValue:
        findings = [GraphFinding.model_validate(one.model_dump()) for one in asked.findings]
        files = [annotation_file(self._graph, finding) for finding in findings]
        named: list[JsonValue] = [{"path": path, "content": text} for path, text in files]
        return {"total": len(files), "files": named}


def taken(model: type[M], step: Step, arguments: Mapping[str, JsonValue]) -> M:
    """Return the arguments of a call in their types. Raises StepFailed."""
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        raise StepFailed(f"{step.step}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}."


def _outputs(findings: Sequence[GraphFinding]) -> list[JsonValue]:
    return [finding.model_dump(mode="json") for finding in findings[:_FOUND]]


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
