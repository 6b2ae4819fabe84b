"""The steps of a run: their inputs (from the request, earlier steps, the project), their calls of
resources and tools on the graph of the run's own commit, questions before effects, and files that
were approved.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import cached_property
from typing import Any, TypeVar, cast

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from forge_bot.engine import Exec
from forge_bot.engine.phases import StepPhase
from forge_bot.engine.reports import ActionFailed, ArtifactWritten, head_of
from forge_bot.engine.step_contracts import FileToWrite, WriteArguments, resource_at
from forge_bot.engine.steps import INPUTS, PROJECT, REQUEST, Step, StepInput, StepPipeline
from forge_bot.errors import ForgeError, StepFailed
from forge_bot.git import blob_id
from forge_bot.project.graph.graph_answers import (
    AnnotateArguments,
    GraphQuestion,
    ScaffoldArguments,
    annotation_file,
    annotations_document,
    ask_graph,
    main_stack,
    manifest_document,
    repo_map,
    scaffold,
    stack_document,
)
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import GraphFinding, declared, scan, verify
from forge_bot.prompts import escape
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.run import Run
from forge_bot.sentences import hint_of
from forge_bot.settings.protected_paths import protected_changes
from forge_bot.store.files import inside, write_whole
from forge_bot.store.run_folder import SPECS
from forge_bot.values import Frozen

LARGEST_OUTPUT = 1_000_000
"""Characters of what a step gives."""

_SHOWN = 20_000
_MAP_TOKENS = 600
_FOUND = 500
"""Findings that a step gives."""
_TYPES: dict[str, TypeAdapter[Any]] = {
    "string": TypeAdapter(str),
    "integer": TypeAdapter(int),
    "boolean": TypeAdapter(bool),
}
M = TypeVar("M", bound=BaseModel)


class ProjectArguments(Frozen):
    """The project that is looked at; there is only the run's."""

    project_path: str = ""


_ARGUMENTS: Mapping[str, type[Frozen]] = {
    "forge_query": GraphQuestion,
    "forge_scaffold": ScaffoldArguments,
    "forge_annotate": AnnotateArguments,
}
"""The arguments of the tools that take more than the project."""


def step_performed(
    action: Exec, run: Run
) -> tuple[ArtifactWritten | ActionFailed, tuple[str, ...]]:
    """Perform a step; the report on it, and the paths it wrote outside the workspace."""
    phase = run.pipeline.phase(action.phase)
    pipeline = run.pipeline.steps
    if not isinstance(phase, StepPhase) or pipeline is None:
        raise AssertionError(phase.id)
    performer = StepPerformer(run, pipeline)
    try:
        text, paths = performer.done(phase)
    except ForgeError as error:
        if phase.step.required or phase.asks:
            message = " ".join((error.message, *error.details, hint_of(error)))
            return ActionFailed(**head_of(action.action_id, run.now()), message=message.strip()), ()
        text, paths = "null\n", ()
    raw = run.workspace.write(phase.writes, text)
    report = ArtifactWritten(
        **head_of(action.action_id, run.now()),
        phase=action.phase,
        artifact=phase.writes,
        blob=blob_id(raw),
    )
    return report, paths


class StepPerformer:
    """Performs steps of one run. Nothing but an approved writing step changes the work tree, and
    what calls give can be known in advance.
    """

    def __init__(self, run: Run, pipeline: StepPipeline) -> None:
        self._run = run
        self._pipeline = pipeline

    def done(self, phase: StepPhase) -> tuple[str, tuple[str, ...]]:
        """Return the document of a phase, and the paths that were written. Raises ForgeError."""
        if phase.asks:
            return self._question(phase.step), ()
        step = phase.step
        if step.kind == "fs_write":
            files = self._files(step)
            self._require_approval(step, files)
            for file in files:
                write_whole(inside(self._run.tree.path, file.path), file.content)
            paths = tuple(file.path for file in files)
            return _write_json({"paths": list(paths)}), paths
        text = _write_json(self._output(step, self._arguments(step)))
        _check_size(step, len(text))
        return text, ()

    # -- inputs

    def _arguments(self, step: Step, *, ahead: bool = False) -> dict[str, JsonValue]:
        """Return the arguments of a step; `ahead` of its turn with what calls before it would give.
        Raises StepFailed for one without a value.
        """
        import jmespath
        from jmespath.exceptions import JMESPathError

        known = self._list_known(step, ahead=ahead)
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

    def _list_known(self, step: Step, *, ahead: bool) -> dict[str, JsonValue]:
        request = self._run.request
        known: dict[str, JsonValue] = {
            PROJECT: self._project,
            INPUTS: inputs_of(self._pipeline, f"{request.title}\n{request.text}"),
        }
        for other in self._pipeline.producers(step):
            known[other.gives] = self._given_by(other, ahead=ahead)
        return known

    def _given_by(self, step: Step, *, ahead: bool) -> JsonValue:
        if step.document not in self._run.state.artifacts:
            if not ahead or step.kind not in {"resource", "tool"}:
                return None
            return self._output(step, self._arguments(step, ahead=True))
        raw = self._run.workspace.read_bytes(step.document)
        if raw is None:
            return None
        if step.kind == "llm":
            return {"text": raw.decode("utf-8", "replace")}
        try:
            return cast("JsonValue", json.loads(raw))
        except ValueError as error:
            raise StepFailed(f"{step.document} is not JSON any more: {error}") from error

    @property
    def _project(self) -> dict[str, JsonValue]:
        """Return the values of the project that every step may use. The path is the root, as steps
        see it.
        """
        stack = main_stack(self._graph)
        name = self._run.repository.common_dir.parent.name
        return {"id": name, "path": ".", "stack": stack.slug if stack is not None else ""}

    # -- calls

    @cached_property
    def _graph(self) -> ProjectGraph:
        return declared(GraphReader(self._run.repository).at(self._run.ref))[0]

    def _output(self, step: Step, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Return the result of a resource or a tool. Raises StepFailed, BadOption, BadManifest."""
        if step.kind == "resource":
            return self._resource(step, arguments)
        name = step.tool or ""
        if name == "forge_query":
            # An input that is left empty narrows nothing.
            arguments = {key: value for key, value in arguments.items() if value}
        model = _ARGUMENTS.get(name, ProjectArguments)
        return self._call(name, _validate(model, step, arguments))

    def _resource(self, step: Step, arguments: Mapping[str, JsonValue]) -> JsonValue:
        address = step.resource or ""
        pattern = resource_at(address) or ""  # one that is not known is no pipeline
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
                return {**self._named, "text": self._context()}
            case _:
                return stack_document(values["kind"], values["stack"])

    @property
    def _named(self) -> dict[str, JsonValue]:
        return {"project_id": self._project["id"], "project_path": "."}

    def _context(self) -> str:
        run = self._run
        profile = profile_at(run.repository, run.state.base_commit, run.config)
        languages = ", ".join(f"{one.name} ({one.percent}%)" for one in profile.languages)
        commands = [
            f"- {kind}: `{' '.join(command.argv)}`"
            for kind in ("build", "test", "lint")
            for command in getattr(profile.commands, kind)
        ]
        shown = repo_map(self._graph, _MAP_TOKENS)
        parts = (languages, "\n".join(commands), shown)
        return "\n\n".join(part for part in parts if part)

    def _call(self, name: str, asked: Any) -> JsonValue:
        graph = self._graph
        match name:
            case "forge_orient":
                code = sum(node.kind.is_code for node in graph.files.values())
                return {
                    **self._named,
                    "branch": self._run.state.branch,
                    "stack": self._project["stack"],
                    "summary": f"{len(graph.files)} files, {code} of them code",
                }
            case "forge_query":
                answer = ask_graph(graph, asked)
                nodes: list[JsonValue] = [node.model_dump(mode="json") for node in answer.nodes]
                return {"sentence": answer.sentence, "total": answer.total, "nodes": nodes}
            case "forge_scan":
                return _findings(scan(graph))
            case "forge_verify":
                broken = verify(graph)
                return {"exit_code": 2 if broken else 0, **_findings(broken)}
            case "forge_scaffold":
                return scaffold(graph, asked)
            case _:
                files = [annotation_file(graph, finding) for finding in asked.findings]
                named: list[JsonValue] = [{"path": path, "content": text} for path, text in files]
                return {"total": len(files), "files": named}

    # -- questions

    def _question(self, step: Step) -> str:
        """Return the document for the approval: the known facts, and every file that the steps
        after the question will write.
        """
        lines = [f"# {escape.heading(step.label)}", ""]
        if step.elicitation_schema:
            lines += [f"{escape.heading(step.elicitation_schema)}.", ""]
        if step.kind == "elicitation" and step.input_map:
            source = json.dumps(self._arguments(step, ahead=True), ensure_ascii=False, indent=1)
            lines += ["## What it is about", "", escape.show_source(source[:_SHOWN], "json"), ""]
        behind = self._pipeline.behind(step)
        lines += ["## After a yes", ""]
        lines += [f"- {escape.heading(later_step.label)}" for later_step in behind] or [
            "- the run goes on"
        ]
        for later_step in behind:
            if later_step.kind == "fs_write":
                lines += ["", *self._show_files(later_step, self._files(later_step, ahead=True))]
        return "\n".join(lines).rstrip() + "\n"

    def _show_files(self, step: Step, files: list[FileToWrite]) -> Iterator[str]:
        yield from (f"## {escape.heading(step.label)}", "", _approval_line(step, files))
        for file in files:
            yield from ("", f"### {escape.heading(file.path)}", "", self._show_file(file))

    def _show_file(self, file: FileToWrite) -> str:
        there = inside(self._run.tree.path, file.path)
        if not there.is_file():
            return escape.show_source(file.content, "")
        before = there.read_text(encoding="utf-8", errors="replace").splitlines()
        after = file.content.splitlines()
        difference = "\n".join(unified_diff(before, after, "before", "after", lineterm=""))
        return escape.show_source(difference or "It is the same.", "diff")

    # -- files

    def _files(self, step: Step, *, ahead: bool = False) -> list[FileToWrite]:
        """Return the files that a step writes. Raises StepFailed, PathEscapes."""
        asked = _validate(WriteArguments, step, self._arguments(step, ahead=ahead))
        alone = [FileToWrite(path=asked.path, content=asked.content)] if asked.path else []
        files = [*alone, *asked.files]
        _check_size(step, sum(len(file.content) for file in files))
        for file in files:
            inside(self._run.tree.path, file.path)
            if file.path.startswith((f"{SPECS}/", ".git/")):
                raise StepFailed(f"{step.step}: {file.path} belongs to the record of runs.")
        data = {file.path: file.content.encode() for file in files}
        refused = protected_changes(data, self._run.config.protected)
        if refused:
            path, reason = next(iter(refused.items()))
            raise StepFailed(f"{step.step}: {path} is protected: {reason}.")
        return files

    def _require_approval(self, step: Step, files: list[FileToWrite]) -> None:
        gate = self._pipeline.gate_before(step)
        question = self._run.workspace.read(gate.question)
        if _approval_line(step, files) not in question.splitlines():
            raise StepFailed(
                (
                    f"{step.step} would write something else than {gate.question} shows, so it "
                    "writes nothing."
                ),
                hint="Reject, and the question is asked anew.",
            )


def _check_size(step: Step, size: int) -> None:
    if size > LARGEST_OUTPUT:
        raise StepFailed(
            f"{step.step} gives {size:,} characters; {LARGEST_OUTPUT:,} are the most.",
            hint="Ask for less: a narrower query.",
        )


def _approval_line(step: Step, files: Sequence[FileToWrite]) -> str:
    """Return the line of a question by which a writing step finds its approval."""
    named = [[file.path, file.content] for file in files]
    digest = hashlib.sha256(json.dumps(named, ensure_ascii=False).encode()).hexdigest()
    return f"- `{step.step}` writes exactly this: sha256 {digest}"


def _write_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _validate(model: type[M], step: Step, arguments: Mapping[str, JsonValue]) -> M:
    """Return the arguments of a call in their types. Raises StepFailed."""
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise StepFailed(f"{step.step}: {place}: {first['msg']}.") from error


def _findings(findings: Sequence[GraphFinding]) -> dict[str, JsonValue]:
    shown: list[JsonValue] = [finding.model_dump(mode="json") for finding in findings[:_FOUND]]
    return {"total": len(findings), "findings": shown}


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
    try:
        return _TYPES[wanted.type].validate_python(written_value)
    except ValidationError:
        return None


def _lacking(name: str, written_value: str, wanted: StepInput) -> str:
    what = f"one of {', '.join(wanted.choices)}" if wanted.choices else wanted.type
    about = f", {wanted.description}" if wanted.description else ""
    return f"{name} ({what}{about}){f', not {written_value!r}' if written_value else ''}"
