"""The resources: what can be read by address, read when it is asked for; and the completion of
names in addresses and in arguments of prompts.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import (
    Annotations,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from pydantic import JsonValue

from forge_bot.errors import ForgeError
from forge_bot.mcp_server.sdk_server.protocol import ROOTS, ForgeServer
from forge_bot.mcp_server.tool_results import describe_error, make_sendable

if TYPE_CHECKING:
    from forge_bot.mcp_server.service import Service

    Read = Callable[[Service], JsonValue]

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


def add_resources(server: ForgeServer) -> None:
    """All resources and templates."""
    _add_project(server)
    _add_runs(server)
    _add_server(server)


def _add_project(server: ForgeServer) -> None:
    @server.resource("forge://project/{id}/context", mime_type=MARKDOWN, annotations=_FOR_MODELS)
    async def context(id: str) -> str:  # noqa: A002 - the name in the address
        """The repository: its commands, and the runs under way."""
        return await _read(server, lambda service: service.queries.context(id))

    @server.resource("forge://project/{id}/manifest", mime_type=JSON)
    async def manifest(id: str) -> str:  # noqa: A002 - the name in the address
        """The nodes of a project with tiers and imports, and its rules."""
        return await _read(server, lambda service: service.graphs.manifest(id))

    @server.resource("forge://project/{id}/annotations", mime_type=JSON)
    async def annotations(id: str) -> str:  # noqa: A002 - the name in the address
        """The findings in a project's graph as it is now."""
        return await _read(server, lambda service: service.graphs.annotations(id))

    @server.resource("forge://glove/{kind}/{stack}", mime_type=JSON)
    async def glove(kind: str, stack: str) -> str:
        """One stack with everything that is read of it."""
        return await _read(server, lambda service: service.graphs.glove(kind, stack))

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
