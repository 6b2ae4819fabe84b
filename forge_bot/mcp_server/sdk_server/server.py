"""The server with all that it offers: its resources, read when they are asked for, its prompts,
which define the limits of a session, and completion; its tools are in `tools`.
"""

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import (
    INVALID_PARAMS,
    Annotations,
    Completion,
    CompletionArgument,
    CompletionContext,
    EmbeddedResource,
    PromptReference,
    ResourceLink,
    ResourceTemplateReference,
    TextResourceContents,
)
from pydantic import JsonValue, ValidationError

from forge_bot.errors import ForgeError
from forge_bot.mcp_server.sdk_server.client_sessions import SessionPolicy, may_change
from forge_bot.mcp_server.sdk_server.protocol import ROOTS, ForgeServer, list_problems
from forge_bot.mcp_server.sdk_server.tools import add_tools
from forge_bot.mcp_server.tool_results import describe_error, make_sendable

if TYPE_CHECKING:
    from forge_bot.mcp_server.service import Service

    Read = Callable[[Service], JsonValue]


_DEBUG = "FORGE_BOT_DEBUG"


def serve(folder: Path | None, *, by_path: bool) -> int:
    """Serve one client over stdin and stdout until it goes away. Without a folder the current one
    is served, or what the client has open.
    """
    # Ctrl-C ends the process at once, as a kill does: what is recorded is always whole.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    make_server(folder, debug=_DEBUG in os.environ, by_path=by_path).run("stdio")
    return 0


def make_server(folder: Path | None, *, debug: bool = False, by_path: bool = False) -> ForgeServer:
    """The server for a folder of a repository; with `debug` its errors have a context, with
    `by_path` it hands out paths of prompts. Without a folder it serves the current one, or what its
    client has open.
    """
    server = ForgeServer(folder, debug=debug, by_path=by_path)
    for add in (add_tools, _add_project, _add_runs, _add_server, add_prompts, add_completion):
        add(server)
    return server


_ABOUT_START = (
    "The contract of a session in the project, with the project's context. dry_run=true hides what"
    " changes something."
)
_ABOUT_AUDIT = "The contract of a session that only looks at the project and its runs."
_CHANNELS = "Beside answers come in _meta: hints, resource_links, annotations, ui, error."
_START = (
    "The project's context is loaded below; forge_orient has nothing to add to it. Where it did"
    " not arrive: forge://project/{root}/context.\nContract of this session: {contract}"
    " forge-bot decides what comes next, makes the commits and runs the"
    " project's commands; an approval is the person's word, and only the"
    f" person's.\n{_CHANNELS}\nThe pipeline is data: forge://pipeline/{{pipeline}}. What is asked"
    " of this session at any moment is the action that pipeline_next_action returns, complete in"
    " itself."
)
_AUDIT = (
    "Contract of this session: {contract} Nothing is begun, answered, sent back or ended."
    f"\n{_CHANNELS}\nWhat is audited is {{project}}. Its code: forge_graph scan and verify;"
    " forge://pipeline/audit has the steps, and keeps what is found after a person's yes. Its runs"
    " (run_list): whether each decision was a person's and for which version (state, decisions),"
    " whether reviews found what later failed, whether the verification rests on commands that"
    " ran.\nThe state of a run, with its log, is the record; its documents are claims. The phases"
    " and what each must contain: forge://pipeline/{pipeline}."
)


def add_prompts(server: ForgeServer) -> None:
    """The two prompts."""

    @server.prompt(name="forge/start", title="Work with forge-bot", description=_ABOUT_START)
    async def start(
        ctx: Context[Any, Any],
        project_path: str = "",
        response_tier: str = "",
        dry_run: str = "",
        debug: str = "",
    ) -> list[Message]:
        project, text, pipeline = await _read_project(server, project_path)
        wanted = {"response_tier": response_tier, "dry_run": dry_run, "debug": debug}
        contract = await _declare_policy(server, ctx, wanted)
        context = TextResourceContents(
            uri=f"forge://project/{project}/context", mime_type=MARKDOWN, text=text
        )
        # The words come first: there are clients, Gemini CLI among them, that take the first
        # message and only if it is text.
        return [
            UserMessage(_START.format(root=project, pipeline=pipeline, contract=contract)),
            UserMessage(EmbeddedResource(type="resource", resource=context)),
            _link_pipeline(pipeline),
        ]

    @server.prompt(
        name="forge/audit", title="Audit a project and its runs", description=_ABOUT_AUDIT
    )
    async def audit(ctx: Context[Any, Any], project_path: str = "") -> list[Message]:
        project, _, pipeline = await _read_project(server, project_path)
        wanted = {"response_tier": "L1", "policy_mode": "read-only"}
        contract = await _declare_policy(server, ctx, wanted)
        return [
            UserMessage(_AUDIT.format(project=project, pipeline=pipeline, contract=contract)),
            _link_pipeline("audit"),
            _link_pipeline(pipeline),
        ]


async def _declare_policy(
    server: ForgeServer, ctx: Context[Any, Any], wanted: Mapping[str, str]
) -> str:
    """Declare a session's policy and return it in words, with the tools that it hides."""
    given = {name: value for name, value in wanted.items() if value.strip()}
    try:
        policy = SessionPolicy.model_validate(given)
    except ValidationError as error:
        raise MCPError(INVALID_PARAMS, "; ".join(list_problems(error))) from error
    await server.policies.declare(ctx, policy)
    tools = await server.list_tools() if policy.only_looks else []
    hidden = ", ".join(tool.name for tool in tools if may_change(tool)) or "none"
    return f"{policy.words}. Hidden tools: {hidden}."


def _link_pipeline(pipeline: str) -> UserMessage:
    uri = f"forge://pipeline/{pipeline}"
    return UserMessage(ResourceLink(type="resource_link", uri=uri, name=pipeline))


async def _read_project(server: ForgeServer, path: str) -> tuple[str, str, str]:
    """Id, context and pipeline of the served project. Raises an error of the protocol, since
    prompts know no other.
    """

    def read(service: "Service") -> tuple[str, str, str]:
        served = service.served
        served.check_project(path)
        context = make_sendable(service.queries.context(served.id))
        return served.id, context, served.config.pipeline

    try:
        return await server.ask(read)
    except ForgeError as error:
        raise MCPError(INVALID_PARAMS, describe_error(error)) from error


JSON = "application/json"
MARKDOWN = "text/markdown"
_FOR_MODELS = Annotations(audience=["assistant"], priority=0.5)
_SCHEMAS = {
    "state": "JSON Schema of state.json",
    "errors": "every error, with its way out",
    "ui": "JSON Schema of questions as data, in _meta.ui",
    "taxonomy": "tiers and kinds of a project's nodes",
    "manifest/v1": "JSON Schema of .forge/manifest.yaml",
}


# -- resources
# --------------------------------------------------------------------------------------------------


def _add_project(server: ForgeServer) -> None:
    @server.resource("forge://project/{id}/context", mime_type=MARKDOWN, annotations=_FOR_MODELS)
    async def context(id: str) -> str:  # noqa: A002 - the name in the address
        """The repository: its commands, and the runs under way."""
        return await _read(server, lambda service: service.queries.context(id))

    @server.resource("forge://project/{id}/manifest", mime_type=JSON)
    async def manifest(id: str) -> str:  # noqa: A002 - the name in the address
        """The nodes of a project with tiers and imports, and its rules."""
        return await _read(server, lambda service: service.queries.manifest(id))

    @server.resource("forge://project/{id}/annotations", mime_type=JSON)
    async def annotations(id: str) -> str:  # noqa: A002 - the name in the address
        """The findings in a project's graph as it is now."""
        return await _read(server, lambda service: service.queries.annotations(id))

    @server.resource("forge://glove/{kind}/{stack}", mime_type=JSON)
    async def glove(kind: str, stack: str) -> str:
        """One stack with everything that is read of it."""
        return await _read(server, lambda service: service.queries.glove(kind, stack))

    @server.resource("forge://pipeline/{id}", mime_type=JSON)
    async def pipeline(id: str) -> str:  # noqa: A002 - the name in the address
        """A pipeline: every phase, in order."""
        return await _read(server, lambda service: service.queries.pipeline(id))


def _add_runs(server: ForgeServer) -> None:
    @server.resource("forge://run/{run}/state", mime_type=JSON)
    async def state(run: str) -> str:
        """A run's state.json, with its log and its documents."""
        return await _read(server, lambda service: service.queries.state(run))

    @server.resource("forge://run/{run}/artifact/{name}", mime_type=MARKDOWN)
    async def artifact(run: str, name: str) -> str:
        """A document of a run."""
        return await _read(server, lambda service: service.queries.artifact(run, name))


def _add_server(server: ForgeServer) -> None:
    def add_schema(name: str, about: str) -> None:
        @server.resource(
            f"forge://schema/{name}",
            name=f"schema-{name.replace('/', '-')}",
            description=about,
            mime_type=JSON,
        )
        async def schema() -> str:
            from forge_bot.mcp_server.queries import SCHEMAS

            return await _read(server, lambda _: SCHEMAS[name]())

    for name, about in _SCHEMAS.items():
        add_schema(name, about)

    @server.resource(ROOTS, mime_type=JSON)
    async def roots() -> str:
        """The repository that this server serves."""
        return await _read(server, lambda service: service.queries.roots())

    @server.resource("forge://mcp/surface", mime_type=JSON)
    async def surface() -> str:
        """Tools, resources and prompts that this server offers."""
        return json.dumps(await offered_surface(server), ensure_ascii=False, indent=1)


async def offered_surface(server: ForgeServer) -> dict[str, Any]:
    """Tools, resources, prompts and what comes beside answers."""
    return {
        "tools": [
            {"name": tool.name, "description": tool.description or ""}
            for tool in await server.list_tools()
        ],
        "resources": [resource.uri for resource in await server.list_resources()],
        "templates": [template.uri_template for template in await server.list_resource_templates()],
        "prompts": [prompt.name for prompt in await server.list_prompts()],
        "meta": {
            "hints": "what to do next",
            "resource_links": "addresses with more",
            "annotations": "counts",
            "ui": "a question as data",
            "error": "an error as data",
        },
        "hidden_tools": [],
    }


async def _read(server: ForgeServer, read: "Read") -> str:
    """Return a text, or data as JSON. Raises ResourceNotFoundError."""
    try:
        content = await server.ask(read)
    except ForgeError as error:
        raise ResourceNotFoundError(describe_error(error)) from error
    if isinstance(content, str):
        return make_sendable(content)
    return make_sendable(json.dumps(content, ensure_ascii=False, indent=1))


_MOST_NAMES = 100


def add_completion(server: ForgeServer) -> None:
    """Serve completion/complete."""

    @server.completion()
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        given = (context.arguments or {}) if context is not None else {}
        of_pipelines = isinstance(ref, ResourceTemplateReference) and "pipeline" in ref.uri

        def known(service: "Service") -> list[str]:
            match argument.name:
                case "run":
                    return [info.name for info in service.served.runs()]
                case "name":
                    artifacts = service.queries.snapshot(given.get("run", "")).state.artifacts
                    return list(dict.fromkeys(("request.md", *artifacts)))
                case "id":
                    return service.queries.pipelines() if of_pipelines else [service.served.id]
                case "project_path":
                    return [str(service.served.path)]
                case _:
                    return []

        try:
            names = await server.ask(known)
        except Exception:  # noqa: BLE001 - whoever types a name needs no error, and no words of one
            names = []
        fitting = [name for name in names if name.startswith(argument.value)]
        return Completion(
            values=fitting[:_MOST_NAMES], total=len(fitting), has_more=len(fitting) > _MOST_NAMES
        )
