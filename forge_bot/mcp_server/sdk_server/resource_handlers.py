"""The resources: what can be read by address, read when it is asked for."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import Annotations
from pydantic import JsonValue

from forge_bot.errors import ForgeError
from forge_bot.mcp_server.sdk_server.protocol import ROOTS, ForgeServer
from forge_bot.mcp_server.service_calls import LazyService, in_thread
from forge_bot.mcp_server.tool_results import in_words, sendable

JSON = "application/json"
MARKDOWN = "text/markdown"
_FOR_MODELS = Annotations(audience=["assistant"], priority=0.5)


def add_resources(server: ForgeServer, service: LazyService) -> None:
    """All resources and templates."""
    _about_projects(server, service)
    _about_graphs(server, service)
    _about_runs(server, service)
    _about_forge(server, service)


def _about_projects(server: ForgeServer, service: LazyService) -> None:
    @server.resource("forge://project/{id}/context", mime_type=MARKDOWN, annotations=_FOR_MODELS)
    async def context(id: str) -> str:  # noqa: A002 - the name in the address
        """A repository: its commands, and the runs under way."""
        return await _found(lambda: service().looking.context(id))

    @server.resource("forge://project/{id}/profile", mime_type=JSON)
    async def profile(id: str) -> str:  # noqa: A002 - the name in the address
        """Languages, commands and conventions of a repository."""
        return await _json(lambda: service().looking.profile(id))

    @server.resource("forge://project/{id}/capabilities", mime_type=JSON)
    async def capabilities(id: str) -> str:  # noqa: A002 - the name in the address
        """The MCP servers and skills that a repository configures, and their problems."""
        return await _json(lambda: service().looking.capabilities(id))

    @server.resource("forge://project/{id}/runs", mime_type=JSON)
    async def project_runs(id: str) -> str:  # noqa: A002 - the name in the address
        """The runs of a repository."""
        return await _json(lambda: service().looking.runs(id))


def _about_graphs(server: ForgeServer, service: LazyService) -> None:
    @server.resource("forge://project/{id}/manifest", mime_type=JSON)
    async def manifest(id: str) -> str:  # noqa: A002 - the name in the address
        """The nodes of a project with tiers and imports, and its rules."""
        return await _json(lambda: service().looking.graphs.manifest(id))

    @server.resource("forge://project/{id}/annotations", mime_type=JSON)
    async def annotations(id: str) -> str:  # noqa: A002 - the name in the address
        """The findings in a project's graph as it is now."""
        return await _json(lambda: service().looking.graphs.annotations(id))

    @server.resource("forge://project/{id}/node/{node}", mime_type=JSON)
    async def node(id: str, node: str) -> str:  # noqa: A002 - the name in the address
        """One node with its neighbours; slashes are written %2F."""
        return await _json(lambda: service().looking.graphs.node(id, node))

    @server.resource("forge://glove/{kind}/{stack}", mime_type=JSON)
    async def glove(kind: str, stack: str) -> str:
        """One stack with everything that is read of it."""
        return await _json(lambda: service().looking.graphs.glove(kind, stack))


def _about_runs(server: ForgeServer, service: LazyService) -> None:
    @server.resource("forge://run/{run}/state", mime_type=JSON)
    async def state(run: str) -> str:
        """A run's state.json."""
        return await _json(lambda: service().looking.state(run))

    @server.resource("forge://run/{run}/artifacts", mime_type=JSON)
    async def artifacts(run: str) -> str:
        """A run's documents, with their verdicts."""
        return await _json(lambda: service().looking.artifacts(run))

    @server.resource("forge://run/{run}/artifact/{name}", mime_type=MARKDOWN)
    async def artifact(run: str, name: str) -> str:
        """A document of a run."""
        return await _found(lambda: service().looking.artifact(run, name))

    @server.resource("forge://run/{run}/request", mime_type=MARKDOWN)
    async def request(run: str) -> str:
        """Return the request of a run, without hidden text."""
        return await _found(lambda: service().looking.request(run))

    @server.resource("forge://run/{run}/log", mime_type=JSON)
    async def log(run: str) -> str:
        """Return the log of a run."""
        return await _json(lambda: service().looking.log(run))


def _about_forge(server: ForgeServer, service: LazyService) -> None:
    @server.resource("forge://pipeline/{id}", mime_type=JSON)
    async def pipeline(id: str) -> str:  # noqa: A002 - the name in the address
        """A pipeline: every phase, in order."""
        return await _json(lambda: service().looking.pipeline(id))

    for name, what in (
        ("state", "JSON Schema of state.json"),
        ("actions", "JSON Schema of the actions"),
        ("errors", "every error, with its way out"),
        ("ui", "JSON Schema of questions as data, in _meta.ui"),
        ("taxonomy", "tiers and kinds of a project's nodes"),
        ("manifest/v1", "JSON Schema of .forge/manifest.yaml"),
    ):
        server.resource(
            f"forge://schema/{name}",
            name=f"schema-{name.replace('/', '-')}",
            description=what,
            mime_type=JSON,
        )(_schema(name))

    @server.resource(ROOTS, mime_type=JSON)
    async def roots() -> str:
        """The folders this server serves."""
        return await _json(partial(_roots, service))

    @server.resource("forge://mcp/surface", mime_type=JSON)
    async def surface() -> str:
        """Tools, resources and prompts that this server offers."""
        return json.dumps(await offered_surface(server), ensure_ascii=False, indent=1)


def _roots(service: LazyService) -> JsonValue:
    return service().looking.roots_served()


def _schema(name: str) -> Callable[[], Any]:
    async def schema() -> str:
        from forge_bot.mcp_server.queries import SCHEMAS

        return await _json(SCHEMAS[name])

    return schema


async def offered_surface(server: ForgeServer) -> dict[str, JsonValue]:
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


async def _found(read: Callable[[], str]) -> str:
    try:
        return sendable(await in_thread(read))
    except ForgeError as error:
        raise ResourceNotFoundError(in_words(error)) from error


async def _json(read: Callable[[], JsonValue]) -> str:
    return await _found(lambda: json.dumps(read(), ensure_ascii=False, indent=1))
