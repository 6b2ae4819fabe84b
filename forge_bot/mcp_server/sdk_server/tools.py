"""The tools' names, arguments and descriptions, as a model reads them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp.types import CallToolResult, InputRequiredResult, ListRootsResult, ToolAnnotations
from pydantic import Field, JsonValue

from forge_bot.mcp_server.sdk_server.client_notifications import announce
from forge_bot.mcp_server.sdk_server.elicit import can_ask, chosen
from forge_bot.mcp_server.sdk_server.gate_elicitation import next_or_question
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.service_calls import LazyService, in_thread
from forge_bot.mcp_server.tool_results import answered, artifact_of, links_of

Object = dict[str, Any]
"""Any object. A narrower type would stand in the schema as a definition that says nothing, which
costs tokens and confuses hosts."""

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def add_beginning(server: ForgeServer, service: LazyService) -> None:
    """The two tools before a run begins."""

    @server.tool(annotations=READS, structured_output=False)
    async def pipeline_init(
        arguments: str,
        opened: Annotated[ListRootsResult, Resolve(client_folders(service))],
        current_branch: str = "",
        project: str = "",
    ) -> CallToolResult:
        """Read a task: words, an issue URL, or .specs/RUN to resume; flags --auto --nopr --debug
        --discuss --effort=S|M|L --budget=5 --pipeline=NAME.
        """
        found = await in_thread(
            lambda: service().init(arguments, current_branch, project, folders(opened))
        )
        known = getattr(found, "resume_mode", "") and getattr(found, "workspace", "")
        return answered(found, meta={"resource_links": [*links_of(known)]} if known else None)

    @server.tool(annotations=WRITES, structured_output=False)
    async def pipeline_init_with_context(
        ctx: Context[Any, Any],
        workspace: str,
        source_id: str = "",
        source_url: str = "",
        external_context: Object | None = None,
        flags: Object | None = None,
        task_text: str = "",
        user_confirmation: Annotated[
            Object | None,
            Field(description="effort, workspace_slug, use_current_branch, enriched_request_body"),
        ] = None,
        discussion_answers: str = "",
    ) -> CallToolResult | InputRequiredResult:
        """Detect the effort from what pipeline_init returned; then, with the person's
        user_confirmation, begin the run.
        """
        given: dict[str, Any] = {
            "workspace": workspace,
            "source_id": source_id,
            "source_url": source_url,
            "external_context": external_context,
            "flags": flags,
            "task_text": task_text,
            "user_confirmation": user_confirmation,
            "discussion_answers": discussion_answers,
        }
        said = {name: value for name, value in given.items() if value is not None}
        return await _begun(server, service, ctx, said)


async def _begun(
    server: ForgeServer, service: LazyService, ctx: Context[Any, Any], said: dict[str, Any]
) -> CallToolResult | InputRequiredResult:
    """Begin a run, once the person has chosen where the client can ask."""
    answer = await in_thread(lambda: service().init_with_context(said))
    if (question := getattr(answer, "question", "")) and can_ask(ctx):
        choice = await chosen(
            ctx, question, answer.model_dump(mode="json")["needs_user_confirmation"]
        )
        if isinstance(choice, InputRequiredResult):
            return choice
        if choice is not None:
            answer = await in_thread(
                lambda: service().init_with_context({**said, "user_confirmation": choice})
            )
    meta = service().beforehand(answer)
    if begun := getattr(answer, "workspace", ""):
        await announce(ctx, server.listeners, begun, fresh=True)
        meta["resource_links"] = [*links_of(begun)]
    return answered(answer, meta=meta, links=[("state", links_of(begun)[0])] if begun else ())


def add_loop(server: ForgeServer, service: LazyService) -> None:
    """The tool that a host calls until nothing is left."""

    @server.tool(annotations=WRITES, structured_output=False)
    async def pipeline_next_action(
        ctx: Context[Any, Any],
        workspace: str,
        previous_action_complete: bool = False,
        previous_tokens: int = 0,
        previous_duration_ms: int = 0,
        previous_model: str = "",
        previous_setup_only: bool = False,
        previous_error: str = "",
        previous_output: str = "",
        action_id: str = "",
        user_response: str = "",
        digest: str = "",
    ) -> CallToolResult | InputRequiredResult:
        """Report the action you did (with its action_id) or a person's answer, and get the next
        one. May take minutes.
        """
        said = {
            "complete": previous_action_complete,
            "tokens": previous_tokens,
            "duration_ms": previous_duration_ms,
            "model": previous_model,
            "setup_only": previous_setup_only,
            "error": previous_error,
            "output": previous_output,
            "action_id": action_id,
            "user_response": user_response,
            "digest": digest,
        }
        return await next_or_question(ctx, service, server.listeners, workspace, said)


def add_reporting(server: ForgeServer, service: LazyService) -> None:
    """The tool for hosts that report and ask in two calls."""

    @server.tool(annotations=WRITES, structured_output=False)
    async def pipeline_report_result(
        ctx: Context[Any, Any],
        workspace: str,
        phase: str,
        tokens_used: int = 0,
        duration_ms: int = 0,
        model: str = "",
        setup_only: bool = False,
        action_id: str = "",
    ) -> CallToolResult:
        """Record a phase's result without asking for the next action."""
        said = {
            "complete": True,
            "tokens": tokens_used,
            "duration_ms": duration_ms,
            "model": model,
            "setup_only": setup_only,
            "action_id": action_id,
        }
        told = await in_thread(lambda: service().report_result(workspace, phase, said))
        await announce(ctx, server.listeners, workspace)
        meta: dict[str, JsonValue] = {
            "annotations": {"findings": len(told.findings)},
            "resource_links": [*links_of(workspace)],
        }
        return answered(
            told,
            meta=meta,
            links=[artifact_of(workspace, told.artifact_written)] if told.artifact_written else (),
        )


# -- the folders that a client has open
# --------------------------------------------------------------------------------------------------


# The request has the form that both eras of the protocol understand: a list of `file:` addresses,
# for clients that declare it (https://modelcontextprotocol.io/specification, roots).
def client_folders(
    service: LazyService,
) -> Callable[[Context[Any, Any], str], Awaitable[ListRootsResult | ListRoots]]:
    """Return a function that fills a tool's parameter with the client's folders: nobody is asked
    where a project is named, or one folder is served.
    """

    async def opened(ctx: Context[Any, Any], project: str) -> ListRootsResult | ListRoots:
        able = ctx.client_capabilities
        if (
            project
            or able is None
            or able.roots is None
            or not await in_thread(lambda: service().roots.undecided)
        ):
            return ListRootsResult(roots=[])
        return ListRoots()

    return opened


def folders(found: ListRootsResult) -> tuple[Path, ...]:
    """Return the paths of a client's roots, in its order, without those that are no folder of this
    machine.
    """
    addresses = (urlsplit(str(root.uri)) for root in found.roots)
    return tuple(
        Path(url2pathname(each.path))
        for each in addresses
        if each.scheme == "file" and each.netloc in {"", "localhost"}
    )
