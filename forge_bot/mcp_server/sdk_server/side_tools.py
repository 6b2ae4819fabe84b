"""The nine tools beside the loop."""

from collections.abc import Sequence
from typing import Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import JsonValue

from forge_bot.mcp_server.sdk_server.client_notifications import announce
from forge_bot.mcp_server.sdk_server.gate_elicitation import controlled
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.sdk_server.tools import READS, WRITES, Object
from forge_bot.mcp_server.service_calls import LazyService, in_thread
from forge_bot.mcp_server.tool_results import answered, artifact_of, links_of

_ENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)


def add_project(server: ForgeServer, service: LazyService) -> None:
    """Tools that look at a project and its graph."""

    @server.tool(annotations=READS, structured_output=False)
    async def forge_orient(
        ctx: Context[Any, Any],
        response_tier: Literal["L0", "L1", "L2"] | None = None,
        project: str = "",
    ) -> CallToolResult:
        """Status in a few words; context_link has the rest."""
        policy = server.policies.of(ctx.session)
        tier = response_tier or policy.response_tier
        found = await in_thread(lambda: service().managing.orient(tier, project))
        name = "audit" if policy.only_looks else found.pipeline
        return answered(
            found,
            sparse=True,
            meta={
                "hints": {"next": found.next, "suggested_workflow": f"forge://pipeline/{name}"},
                "resource_links": [found.context_link, *found.other_contexts],
            },
        )

    @server.tool(annotations=READS, structured_output=False)
    async def forge_graph(
        operation: Literal["query", "map", "verify", "scan"],
        name: str = "",
        tier: str = "",
        kind: str = "",
        domain: str = "",
        of: str = "",
        used_by: str = "",
        touches: Sequence[str] = (),
        between: Sequence[str] = (),
        project: str = "",
    ) -> CallToolResult:
        """The project's files as a graph: nodes by name, tier, kind or domain; neighbours `of` a
        node; pipelines it is `used_by`; what a change `touches`; the imports `between` two; what
        breaks rules.
        """
        narrowed = {"name": name, "tier": tier, "kind": kind, "domain": domain}
        edges = {"of": of, "used_by": used_by, "touches": touches, "between": between}
        asked = {key: value for key, value in {**narrowed, **edges}.items() if value}
        found = await in_thread(lambda: service().looking.graphs.answer(operation, asked, project))
        meta: dict[str, JsonValue] = {"resource_links": [*found.links]}
        if operation in {"verify", "scan"}:
            meta["annotations"] = {"findings": found.count}
        return answered(found, meta=meta)


def add_runs(server: ForgeServer, service: LazyService) -> None:
    """Tools that look at a run and at the list of them."""

    @server.tool(annotations=READS, structured_output=False)
    async def state_resume_info(workspace: str) -> CallToolResult:
        """The position of a run, and the way to go on with it."""
        found = await in_thread(lambda: service().managing.resume_info(workspace))
        links = links_of(found.workspace)
        named = [(link.rpartition("/")[2], link) for link in links[:2]]
        return answered(
            found,
            links=named,
            meta={"hints": {"next": found.instruction}, "resource_links": [*links]},
        )

    @server.tool(annotations=READS, structured_output=False)
    async def run_list(ended: bool = False) -> CallToolResult:
        """The runs under way, newest first; with ended, all."""
        found = await in_thread(lambda: service().managing.run_list(ended=ended))
        return answered(
            found,
            meta={
                "resource_links": [
                    link for run in found.runs for link in links_of(str(run["workspace"]))[:1]
                ]
            },
        )


def add_history(server: ForgeServer, service: LazyService) -> None:
    """Tools that look at all runs, and at a document of one."""

    @server.tool(annotations=READS, structured_output=False)
    async def history_search(
        query: str,
        about: Literal["runs", "patterns", "friction"] = "runs",
        limit: int = 5,
        project: str = "",
    ) -> CallToolResult:
        """Past runs like a text, what reviews kept finding, or where runs got stuck."""
        return answered(
            await in_thread(lambda: service().managing.history(query, about, limit, project))
        )

    @server.tool(annotations=READS, structured_output=False)
    async def analytics(
        kind: Literal["summary", "estimate", "repository"],
        workspace: str = "",
        effort: str = "M",
        project: str = "",
    ) -> CallToolResult:
        """Time and cost of a run, the probable ones of an effort, or those of all runs."""
        return answered(
            await in_thread(lambda: service().managing.analytics(kind, workspace, effort, project))
        )

    @server.tool(annotations=READS, structured_output=False)
    async def validate_artifact(workspace: str, artifact: str) -> CallToolResult:
        """Check a document as its report would, without reporting."""
        found = await in_thread(lambda: service().managing.validate(workspace, artifact))
        counts: dict[str, JsonValue] = {
            "findings": len(found.findings),
            "problems": len(found.problems),
        }
        meta: dict[str, JsonValue] = {
            "annotations": counts,
            "resource_links": [*links_of(workspace)],
        }
        return answered(found, meta=meta, links=[artifact_of(workspace, found.artifact)])


def add_steering(server: ForgeServer, service: LazyService) -> None:
    """Tools that change what a run, or the next one, does."""

    @server.tool(annotations=_ENDS, structured_output=False)
    async def run_control(
        ctx: Context[Any, Any],
        workspace: str,
        operation: Literal["abandon", "retry", "update"],
        phase: str = "",
        notes: str = "",
    ) -> CallToolResult | InputRequiredResult:
        """End a run, send it back to a phase, or merge its base branch into one that is done, when
        the person wants it.
        """
        found = await controlled(ctx, service, workspace, operation, phase, notes)
        if isinstance(found, InputRequiredResult):
            return found
        await announce(ctx, server.listeners, workspace)
        return answered(
            found,
            meta={"hints": {"next": found.instruction}, "resource_links": [*links_of(workspace)]},
        )

    @server.tool(annotations=WRITES, structured_output=False)
    async def preferences(
        # Hosts write this name.
        set: Object | None = None,  # noqa: A002
        project: str = "",
    ) -> CallToolResult:
        """Defaults for new runs; set replaces them: auto, nopr, debug, discuss, effort."""
        return answered(await in_thread(lambda: service().managing.preferences(set, project)))
