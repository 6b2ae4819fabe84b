"""Carries out the calls of steps: resources and tools, on the graph of the run's own commit."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from forge_bot.engine.step_contracts import (
    TOOLS,
    AnnotateArguments,
    QueryArguments,
    resource_at,
)
from forge_bot.engine.steps import Step
from forge_bot.errors import StepFailed
from forge_bot.knowledge.profile import Profile
from forge_bot.project.graph.graph_documents import (
    annotation_file,
    annotations_document,
    manifest_document,
    repo_map,
    stack_document,
    violations,
)
from forge_bot.project.graph.graph_query import GraphQuestion, ask_graph
from forge_bot.project.graph.manifest import declared
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.scaffold import main_stack, scaffold
from forge_bot.project.graph.verify_graph import GraphFinding, scan
from forge_bot.runs.project_commands.commit_profile import profile_at
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
        findings = violations(self._graph)
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


def _outputs(findings: list[GraphFinding]) -> list[JsonValue]:
    return [finding.model_dump(mode="json") for finding in findings[:_FOUND]]
