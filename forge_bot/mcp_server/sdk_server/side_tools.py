"""The tools beside the loop."""

from collections.abc import Sequence
from typing import Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import JsonValue

from forge_bot.mcp_server.sdk_server.client_notifications import announce, client_name
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.sdk_server.tools import READS
from forge_bot.mcp_server.tool_results import make_result, state_address

_ENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)


def add_side_tools(server: ForgeServer) -> None:
    """All of them."""
    _add_project(server)
    _add_runs(server)


def _add_project(server: ForgeServer) -> None:
    @server.tool(annotations=READS, structured_output=False)
    async def forge_orient(
        response_tier: Literal["", "L0", "L1", "L2"] = "",
    ) -> CallToolResult:
        """Status in a few words; context_link has the rest."""
        policy = server.policies.current
        tier = response_tier or policy.response_tier
        status = await server.ask(lambda service: service.queries.orient(tier))
        pipeline = await server.ask(lambda service: service.served.config.pipeline)
        name = "audit" if policy.only_looks else pipeline
        meta: dict[str, JsonValue] = {
            "hints": {"next": status["next"], "suggested_workflow": f"forge://pipeline/{name}"},
            "resource_links": [status["context_link"]],
        }
        return make_result(status, meta=meta)

    @server.tool(annotations=READS, structured_output=False)
    async def forge_graph(
        operation: Literal["query", "map", "verify", "scan"],
        name: str = "",
        tier: str = "",
        kind: str = "",
        domain: str = "",
        of: str = "",
        touches: Sequence[str] = (),
        between: Sequence[str] = (),
    ) -> CallToolResult:
        """The project's files as a graph: nodes by name, tier, kind or domain; neighbours `of` a
        node; what a change `touches`; the imports `between` two; what breaks rules.
        """
        narrowed = {"name": name, "tier": tier, "kind": kind, "domain": domain}
        edges = {"of": of, "touches": touches, "between": between}
        asked = {key: value for key, value in {**narrowed, **edges}.items() if value}
        result = await server.ask(lambda service: service.graphs.answer(operation, asked))
        meta: dict[str, JsonValue] = {"resource_links": [*result.links]}
        if operation in {"verify", "scan"}:
            meta["annotations"] = {"findings": result.total}
        return make_result({"text": result.text, "count": result.total}, meta=meta)


def _add_runs(server: ForgeServer) -> None:
    @server.tool(annotations=READS, structured_output=False)
    async def state_resume_info(workspace: str) -> CallToolResult:
        """The position of a run, and the way to go on with it."""
        info = await server.ask(lambda service: service.queries.resume_info(workspace))
        link = state_address(str(info["workspace"]))
        meta: dict[str, JsonValue] = {
            "hints": {"next": info["instruction"]},
            "resource_links": [link],
        }
        return make_result(info, links=[link], meta=meta)

    @server.tool(annotations=READS, structured_output=False)
    async def run_list(ended: bool = False) -> CallToolResult:
        """The runs under way, newest first; with ended, all."""
        runs = await server.ask(lambda service: service.queries.run_list(ended=ended))
        links = [state_address(str(run["workspace"])) for run in runs]
        return make_result({"runs": [*runs]}, meta={"resource_links": [*links]})

    @server.tool(annotations=_ENDS, structured_output=False)
    async def run_control(
        ctx: Context[Any, Any],
        workspace: str,
        operation: Literal["abandon", "retry", "update"],
        phase: str = "",
        notes: str = "",
    ) -> CallToolResult:
        """End a run, send it back to a phase, or merge its base branch into one that is done, when
        the person wants it.
        """
        client = client_name(ctx)
        result = await server.ask(
            lambda service: service.control(workspace, operation, phase, notes, client)
        )
        await announce(server.listeners, ctx, workspace)
        meta: dict[str, JsonValue] = {
            "hints": {"next": result["instruction"]},
            "resource_links": [state_address(workspace)],
        }
        return make_result(result, meta=meta)
