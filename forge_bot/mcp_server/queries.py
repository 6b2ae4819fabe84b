"""Queries that change nothing: runs, their documents and logs, the repository, schemas, and this
server.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, TypeAdapter

from forge_bot.engine import Pipeline, State, StepPipeline
from forge_bot.engine.phase_rows import rows
from forge_bot.errors import BadManifest, ForgeError, UnknownArtifact, UnknownRun, registry
from forge_bot.interaction.remedy_words import advice_for_client
from forge_bot.mcp_server.served_folders import RunLocation, ServedFolder, ServedFolders, in_several
from forge_bot.mcp_server.tool_results import in_one_line
from forge_bot.mcp_server.tool_schemas import WireAction, ui_schema
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.finding_runs.files_of_run import raw_file
from forge_bot.runs.finding_runs.find_runs import RunInfo
from forge_bot.runs.finding_runs.snapshot_of_run import RunSnapshot, run_snapshot
from forge_bot.runs.project_commands.kept_profiles import profile_at
from forge_bot.sentences import say
from forge_bot.settings.config import file_text
from forge_bot.settings.load_pipeline import PIPELINES, load_descriptor, pipeline_names
from forge_bot.store import read_request

if TYPE_CHECKING:
    from forge_bot.mcp_server.graph_answers import GraphAnswers

_RUNS_SHOWN = 20


class Queries:
    """Reads for clients. Nothing is locked, so a result may be a moment old."""

    def __init__(self, roots: ServedFolders) -> None:
        self.roots = roots

    @cached_property
    def graphs(self) -> "GraphAnswers":
        """The projects' graphs. Their reader is imported at the first use."""
        from forge_bot.mcp_server.graph_answers import GraphAnswers

        return GraphAnswers(self.roots)

    # -- runs
    # ----------------------------------------------------------------------------------------------

    def run(self, workspace: str, project: str = "") -> RunLocation:
        """The run of that name or workspace, in a project or any served folder; one on a branch
        only if none is checked out.

        Raises UnknownRun, NotServed, AmbiguousRun.
        """
        wanted = self.roots.wanted(project)
        roots, name = self.roots.named(workspace)
        found = [
            location
            for location in self.roots.runs([root for root in roots if root in wanted])
            if location.info.name == name
        ]
        if not found:
            raise UnknownRun(
                say("client.queries.no_such_run", name=name),
                hint=say("client.queries.where_runs_are_listed"),
            )
        here = [location for location in found if location.here]
        if len(here) > 1:
            raise in_several(workspace)
        return (here or found)[0]

    def reading(self, workspace: str, project: str = "") -> RunSnapshot:
        """The run, folded from its reports."""
        location = self.run(workspace, project)
        return run_snapshot(location.root.repository, location.info, location.root.config)

    def state(self, name: str) -> JsonValue:
        """state.json as it would be written now."""
        return self.reading(name).state.model_dump(mode="json")

    def log(self, name: str) -> JsonValue:
        """Return the log of the run, oldest first."""
        return [
            entry.model_dump(mode="json", exclude_none=True)
            for entry in self.reading(name).state.log
        ]

    def artifacts(self, name: str) -> JsonValue:
        """Return the run's documents, each with its phase, its round and the reviewer's verdict."""
        return _listed(name, self.reading(name).state)

    def artifact(self, name: str, artifact: str) -> str:
        """Return a document. Invisible text is removed from the request, because strangers may have
        hidden words for a model in it.
        """
        if artifact == "request.md":
            return self.request(name)
        text = self.reading(name).artifact(artifact)
        if text is None:
            raise UnknownArtifact(
                say("client.queries.no_such_artifact", name=name, artifact=artifact),
                hint=say("client.queries.where_artifacts_are_listed", name=name),
            )
        return text

    def request(self, name: str) -> str:
        """The request as an agent may read it."""
        location = self.run(name)
        raw = raw_file(location.root.repository, location.info, "request.md") or b""
        request = read_request(raw.decode("utf-8", "replace"))
        text = request.text if request.source.type == "text" else clean(request.text).text
        return f"# {request.title}\n\n{text}\n"

    # -- the repository
    # ----------------------------------------------------------------------------------------------

    def profile(self, project: str) -> JsonValue:
        """Languages, commands, conventions and layout at the commit that is checked out."""
        root = self.roots.root(project)
        return profile_at(
            root.repository, root.repository.commit_id("HEAD"), root.config
        ).model_dump(mode="json")

    def capabilities(self, project: str) -> JsonValue:
        """Return the MCP servers and skills of a repository; no server is started."""
        from forge_bot.mcp_server.configured_capabilities import configured_capabilities

        root = self.roots.root(project)
        return configured_capabilities(root.path, root.config)

    def runs(self, project: str) -> JsonValue:
        """The runs of a repository, newest first."""
        root = self.roots.root(project)
        return [self.line(RunLocation(root, info)) for info in root.runs()]

    def line(self, location: RunLocation) -> dict[str, JsonValue]:
        """A run as a list shows it."""
        return _line(location.info, self.roots.workspace(location.root, location.info.name))

    def context(self, project: str) -> str:
        """Return the state of the repository and its runs, for the beginning of a session."""
        root = self.roots.root(project)
        branch = root.branch
        profile = profile_at(root.repository, root.repository.commit_id("HEAD"), root.config)
        commands = [
            f"- {kind}: `{' '.join(command.argv)}`"
            for kind in ("build", "test", "lint")
            for command in getattr(profile.commands, kind)
        ]
        languages = ", ".join(
            f"{language.name} ({language.percent}%)" for language in profile.languages
        )
        known = [
            say(
                "client.queries.run_under_way",
                workspace=self.roots.workspace(root, info.name),
                title=info.title,
                where=_where(info),
                branch=info.branch,
            )
            for info in root.runs()[:_RUNS_SHOWN]
            if not info.ended
        ]
        checked_out = (
            say("client.queries.branch", branch=branch)
            if branch
            else say("client.queries.no_branch")
        )
        parts = [
            f"# {root.id}",
            f"{checked_out} {languages}",
            _section("client.queries.commands", "\n".join(commands), "client.queries.no_command"),
            _section("client.queries.runs_under_way", "\n".join(known), "client.queries.no_run"),
            _section(
                "client.queries.structure", self._structure(root), "client.queries.not_read_yet"
            ),
        ]
        return "\n\n".join(parts) + "\n"

    def _structure(self, root: ServedFolder) -> str:
        """Return the project's graph in a few lines; a manifest that cannot be read says so."""
        try:
            return self.graphs.summary(root)
        except BadManifest as error:
            return f"{error.code}: {error.message}"

    def shelf(self) -> tuple[tuple[str, str, str, str], ...]:
        """Return the resources of the list by address: the served repositories, their pipelines,
        and the runs under way.
        """
        found: list[tuple[str, str, str, str]] = []
        for root in self.roots.all:
            about = say("client.queries.where_it_stands")
            try:
                alive = [info for info in root.runs() if not info.ended][:_RUNS_SHOWN]
            except ForgeError as error:
                about, alive = say("client.queries.runs_not_listed", problem=in_one_line(error)), []
            name = f"{root.id} context"
            found.append((f"forge://project/{root.id}/context", name, about, "text/markdown"))
            found += [
                (f"forge://run/{info.name}/state", info.name, info.title, "application/json")
                for info in alive
            ]
        found += [
            (f"forge://pipeline/{name}", name, about, "application/json")
            for name, about in described_pipelines(self.roots)
        ]
        # Several folders may have the same run.
        return tuple({entry[0]: entry for entry in found}.values())

    # -- schemas and the server
    # ----------------------------------------------------------------------------------------------

    def pipeline(self, name: str) -> JsonValue:
        """A pipeline's descriptor."""
        return pipeline_at(self.roots, name).model_dump(mode="json", exclude_defaults=True)

    def pipeline_of(self, root: ServedFolder) -> str:
        """Return the last part of the address of a root's pipeline."""
        return address(self.roots, root, root.config.pipeline)

    def pipelines(self) -> tuple[str, ...]:
        """Return the last parts of the addresses of the pipelines that runs can be made of."""
        return pipeline_addresses(self.roots)

    def roots_served(self) -> JsonValue:
        """The served folders, in the form of the protocol's roots."""
        return {"roots": [{"uri": root.path.as_uri(), "name": root.id} for root in self.roots.all]}


def _line(info: RunInfo, workspace: str) -> dict[str, JsonValue]:
    return {
        "workspace": workspace,
        "title": info.title,
        "branch": info.branch,
        "phase": info.phase,
        "status": info.status,
        "effort": info.effort,
        "updated_at": info.updated_at.isoformat(),
    }


def _where(info: RunInfo) -> str:
    if info.waiting:
        return say("client.queries.waits_for_a_person", gate=info.gate)
    return say("client.queries.at_phase", phase=info.phase)


def _section(title: str, text: str, without: str) -> str:
    """Return a part of the page about a project; `without` names what is said where it is empty."""
    return f"## {say(title)}\n\n{text or say(without)}"


def _listed(name: str, state: State) -> JsonValue:
    return [
        {
            "name": artifact,
            "uri": f"forge://run/{name}/artifact/{artifact}",
            "phase": record.phase,
            "round": record.round,
            "verdict": record.verdict.value if record.verdict is not None else None,
            "blob": record.blob,
        }
        for artifact, record in state.artifacts.items()
    ]


def phases(found: RunSnapshot) -> JsonValue:
    """Every phase and how it stands."""
    return [
        {"id": row.phase, "label": row.label, "standing": row.standing, "note": row.note}
        for row in rows(found.pipeline, found.state)
    ]


def errors_schema() -> JsonValue:
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


def taxonomy() -> JsonValue:
    """Return the tiers, kinds of nodes and edges of a project's graph."""
    from forge_bot.project.graph.graph_documents import taxonomy as of_graphs

    return of_graphs()


def manifest_schema() -> JsonValue:
    """JSON Schema of .forge/manifest.yaml."""
    from forge_bot.project.graph.manifest import manifest_schema as of_file

    return of_file()


def state_schema() -> JsonValue:
    """JSON Schema of state.json."""
    return State.model_json_schema()


def actions_schema() -> JsonValue:
    """JSON Schema of what pipeline_next_action answers."""
    adapter: TypeAdapter[Any] = TypeAdapter(WireAction)
    return adapter.json_schema()


SCHEMAS: dict[str, Callable[[], JsonValue]] = {
    "state": state_schema,
    "actions": actions_schema,
    "errors": errors_schema,
    "ui": ui_schema,
    "taxonomy": taxonomy,
    "manifest/v1": manifest_schema,
}


# -- pipelines by the last part of their address: NAME, or NAME@PROJECT
# --------------------------------------------------------------------------------------------------


# NAME means the pipeline of the first folder that has one of that name. A folder with another
# pipeline of that name has NAME@PROJECT. Every folder has the shipped pipelines, unless a file of
# its own replaces one. No name of a pipeline contains @, so the two forms cannot be confused.
def pipeline_addresses(roots: ServedFolders) -> tuple[str, ...]:
    """Return the last parts of the addresses of all pipeline_addresses, each once."""
    return tuple(
        sorted(
            {address(roots, root, name) for root in roots.all for name in pipeline_names(root.path)}
        )
    )


def address(roots: ServedFolders, root: ServedFolder, name: str) -> str:
    """Return the last part of the address of a root's pipeline."""
    return name if _own(_first(roots, name), name) == _own(root, name) else f"{name}@{root.id}"


def described_pipelines(roots: ServedFolders) -> tuple[tuple[str, str], ...]:
    """Return each address with a sentence about its pipeline. One that cannot be read says why, and
    where.
    """
    return tuple((name, _sentence(roots, name)) for name in pipeline_addresses(roots))


def _sentence(roots: ServedFolders, name: str) -> str:
    try:
        found = pipeline_at(roots, name)
    except ForgeError as error:
        return say("client.queries.pipeline_is_unreadable", problem=in_one_line(error))
    of_steps = isinstance(found, StepPipeline)
    return say("client.queries.a_pipeline_of_steps" if of_steps else "client.queries.a_pipeline")


def pipeline_at(roots: ServedFolders, wanted: str) -> Pipeline | StepPipeline:
    """Return the pipeline with this end of its address. Raises NotServed for an unknown project,
    and the errors of loading.
    """
    name, _, project = wanted.partition("@")
    root = roots.root(project) if project else _first(roots, name)
    return load_descriptor(name, root.repository.root)


def _first(roots: ServedFolders, name: str) -> ServedFolder:
    return next((root for root in roots.all if name in pipeline_names(root.path)), roots.root())


def _own(root: ServedFolder, name: str) -> str | None:
    """The text with which a repository replaces a shipped pipeline or adds one."""
    return file_text(root.path, f"{PIPELINES}/{name}.yaml")
