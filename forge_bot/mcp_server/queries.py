"""Queries that change nothing: the repository and its graph, its runs with their documents,
pipelines, schemas.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from mcp.types import Resource
from pydantic import JsonValue, ValidationError

from forge_bot.engine import SpawnAgent, State, next_action
from forge_bot.errors import BadArguments, UnknownArtifact, registry
from forge_bot.interaction.remedy_words import advice_for_client
from forge_bot.mcp_server.served_repository import ServedRepository
from forge_bot.mcp_server.tool_schemas import UIComponent
from forge_bot.project.graph.graph_answers import (
    GraphQuestion,
    annotations_document,
    ask_graph,
    manifest_document,
    stack_document,
    taxonomy,
)
from forge_bot.project.graph.project_graph import ProjectGraph
from forge_bot.project.graph.read_graph import GraphReader
from forge_bot.project.graph.verify_graph import Manifest, declared, scan, verify
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.find_runs import RunInfo, raw_file, run_in, run_standing
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.run_snapshot import RunSnapshot, run_snapshot
from forge_bot.settings.load_pipeline import load_descriptor, pipeline_names
from forge_bot.store.run_folder import SPECS, read_request

_RUNS_SHOWN = 20
_STANDING = ("current_phase", "current_phase_status", "completed_phases", "effort")

Operation = Literal["query", "verify", "scan"]

_MOST_CHARACTERS = 1_200
"""Characters of an answer: 300 tokens."""


class GraphResult(NamedTuple):
    """An answer about the project's graph, in lines; `links` lead to more."""

    text: str
    links: tuple[str, ...]
    total: int = 0


def _fitted(first: str, lines: list[str]) -> str:
    """Return the lines that fit, and the number of those left out."""
    shown, room = [first], _MOST_CHARACTERS - len(first)
    for at, line in enumerate(lines):
        if len(line) + 1 > room:
            shown.append(f"… {len(lines) - at} more lines; narrow the question")
            break
        shown.append(line)
        room -= len(line) + 1
    return "\n".join(shown)


class Queries:
    """Reads for clients. Nothing is locked, so a result may be a moment old. Of the graph only
    changed files are read again.
    """

    def __init__(self, served: ServedRepository) -> None:
        self._served = served
        self._reader: GraphReader | None = None
        self._one = threading.Lock()

    # -- runs
    # ----------------------------------------------------------------------------------------------

    def snapshot(self, workspace: str) -> RunSnapshot:
        """The run, folded from its reports. Raises UnknownRun, NotServed."""
        info = self._served.run(workspace)
        return run_snapshot(self._served.repository, info, self._served.config)

    def state(self, name: str) -> JsonValue:
        """state.json as it would be written now."""
        return self.snapshot(name).state.model_dump(mode="json")

    def artifact(self, name: str, artifact: str) -> str:
        """Return a document. Invisible text is removed from the request, because strangers may have
        hidden words for a model in it.
        """
        if artifact == "request.md":
            return self._request(name)
        run = self.snapshot(name)
        text = run.artifact(artifact)
        if text is None:
            raise UnknownArtifact(
                f"The run {name} has no {artifact}.",
                hint=f"It has {', '.join(run.state.artifacts)}.",
            )
        return text

    def _request(self, name: str) -> str:
        info = self._served.run(name)
        raw = raw_file(self._served.repository, info, "request.md") or b""
        request = read_request(raw.decode("utf-8", "replace"))
        text = request.text if request.source.type == "text" else clean(request.text).text
        return f"# {request.title}\n\n{text}\n"

    def run_list(self, *, ended: bool) -> list[dict[str, JsonValue]]:
        """The runs of the repository, newest first, with those that are over if wanted."""
        return [_describe_run(info) for info in self._served.runs() if ended or not info.ended]

    def resume_info(self, workspace: str) -> dict[str, JsonValue]:
        """Return where a run stands, with the keys of state.json, and the way to go on; one on a
        branch that is not checked out is named with the way to it.
        """
        served, info = self._served, self._served.run(workspace)
        run = run_snapshot(served.repository, info, served.config)
        action, branch = next_action(run.pipeline, run.state), info.at_client
        # Before its first commit a run is only in the work tree, and its branch may not exist.
        unborn = run_in(served.path, info.name) is not None and not (
            served.repository.branch_exists(info.branch)
        )
        there = "" if unborn or served.branch == branch else f"git switch {branch}, then "
        agent = action.agent if isinstance(action, SpawnAgent) else ""
        return {
            "workspace": f"{SPECS}/{info.name}",
            "title": info.title,
            "branch": branch,
            **run.state.model_dump(mode="json", include={*_STANDING}),
            "outstanding": f"{action.type} {agent}".strip(),
            "instruction": "nothing is left to do"
            if run.state.ended
            else f"{there}call pipeline_next_action",
        }

    # -- the repository
    # ----------------------------------------------------------------------------------------------

    def orient(self, tier: Literal["L0", "L1"]) -> dict[str, JsonValue]:
        """A status of a few words; L1 names the runs under way."""
        served = self._served
        alive = [info for info in served.runs() if not info.ended]
        status: dict[str, JsonValue] = {
            "runs": len(alive),
            "waiting": sum(info.waiting for info in alive),
            "next": "pipeline_next_action" if alive else "pipeline_init",
            "context_link": f"forge://project/{served.id}/context",
        }
        if tier != "L0":
            under_way: list[JsonValue] = [*map(_describe_run, alive)]
            status |= {"tier": tier, "branch": served.branch, "under_way": under_way}
        return status

    def context(self, project: str) -> str:
        """Return the state of the repository and its runs, for the beginning of a session."""
        served = self._served
        served.check_project(project)
        profile = profile_at(served.repository, served.repository.commit_id("HEAD"), served.config)
        commands = [
            f"- {kind}: `{' '.join(command.argv)}`"
            for kind in ("build", "test", "lint")
            for command in getattr(profile.commands, kind)
        ]
        languages = ", ".join(
            f"{language.name} ({language.percent}%)" for language in profile.languages
        )
        alive = [info for info in served.runs() if not info.ended][:_RUNS_SHOWN]
        runs = [
            f"- {SPECS}/{info.name}: {info.title} "
            f"({run_standing(served.repository, info).in_words}, {info.branch})"
            for info in alive
        ]
        branch = served.branch
        here = f"Branch `{branch}`." if branch else "No branch is checked out."
        sections = {
            "Commands": "\n".join(commands) or "None was found.",
            "Runs under way": "\n".join(runs) or "None. pipeline_init begins one.",
        }
        parts = [f"## {title}\n\n{text}" for title, text in sections.items()]
        return "\n\n".join([f"# {served.id}", f"{here} {languages}", *parts]) + "\n"

    def resources(self) -> list[Resource]:
        """Return the resources of the list by address: the repository, its pipelines, and the runs
        under way.
        """
        served, about = self._served, "where the repository and its runs stand"
        alive = [info for info in served.runs() if not info.ended][:_RUNS_SHOWN]
        context = f"forge://project/{served.id}/context"
        return [
            _make_resource(context, f"{served.id} context", about, "text/markdown"),
            *(
                _make_resource(f"forge://run/{info.name}/state", info.name, info.title)
                for info in alive
            ),
            *(
                _make_resource(f"forge://pipeline/{name}", name, "a pipeline as data")
                for name in self.pipelines()
            ),
        ]

    def roots(self) -> JsonValue:
        """The served repository, in the form of the protocol's roots."""
        return {"roots": [{"uri": self._served.path.as_uri(), "name": self._served.id}]}

    # -- the graph
    # ------------------------------------------------------------------------------------------

    def graph(self, operation: Operation, asked: Mapping[str, Any]) -> GraphResult:
        """Answer one call of `forge_graph`. Raises BadArguments, BadOption, BadManifest."""
        graph, _ = declared(self._read_graph())
        project = f"forge://project/{self._served.id}"
        if operation in {"verify", "scan"}:
            findings = scan(graph) if operation == "scan" else verify(graph)
            first = f"{len(findings)} found" if findings else "Nothing found"
            text = _fitted(first, [finding.words for finding in findings])
            return GraphResult(text=text, total=len(findings), links=(f"{project}/annotations",))
        links = (f"{project}/manifest",)
        try:
            question = GraphQuestion.model_validate(asked)
        except ValidationError as error:
            first = error.errors()[0]
            raise BadArguments(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from None
        nodes = ask_graph(graph, question)
        first, *lines = nodes.text.splitlines()
        return GraphResult(text=_fitted(first, lines), total=nodes.total, links=links)

    def manifest(self, project: str) -> JsonValue:
        """Return the nodes of code with tier and imports, and the rules that are declared."""
        return manifest_document(*self._declared(project))

    def annotations(self, project: str) -> JsonValue:
        """Return the current findings of the graph, and the kept annotations."""
        return annotations_document(self._declared(project)[0])

    def glove(self, kind: str, stack: str) -> JsonValue:
        """Return the description of a stack. Raises UnknownNode."""
        return stack_document(kind, stack)

    def _declared(self, project: str) -> tuple[ProjectGraph, Manifest]:
        self._served.check_project(project)
        return declared(self._read_graph())

    def _read_graph(self) -> ProjectGraph:
        with self._one:
            if self._reader is None:
                self._reader = GraphReader(self._served.repository)
            return self._reader.here()

    # -- pipelines
    # ----------------------------------------------------------------------------------------------

    def pipelines(self) -> list[str]:
        """Return the names of the pipelines that runs can be made of."""
        return sorted(pipeline_names(self._served.path))

    def pipeline(self, name: str) -> JsonValue:
        """A pipeline's descriptor. Raises the errors of loading."""
        descriptor = load_descriptor(name, self._served.path)
        return descriptor.model_dump(mode="json", exclude_defaults=True)


def _make_resource(
    uri: str, name: str, about: str, mime_type: str = "application/json"
) -> Resource:
    return Resource(uri=uri, name=name, description=about, mime_type=mime_type)


def _describe_run(info: RunInfo) -> dict[str, JsonValue]:
    return {
        "workspace": f"{SPECS}/{info.name}",
        "title": info.title,
        "branch": info.branch,
        "phase": info.phase,
        "status": info.status,
        "effort": info.effort,
        "updated_at": info.updated_at.isoformat(),
    }


# -- schemas
# --------------------------------------------------------------------------------------------------


def _list_errors() -> JsonValue:
    """Every error: code, class, sentence and way out."""
    return [
        {
            "code": code,
            "check_class": kind.__name__,
            "domain": code.partition("-")[0],
            "message": " ".join((kind.__doc__ or "").split()),
            "hint": advice_for_client(kind(code)),
        }
        for code, kind in sorted(registry().items())
    ]


SCHEMAS: dict[str, Callable[[], Any]] = {
    "state": State.model_json_schema,
    "errors": _list_errors,
    "ui": UIComponent.model_json_schema,
    "taxonomy": taxonomy,
    "manifest/v1": Manifest.model_json_schema,
}
