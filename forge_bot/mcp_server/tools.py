"""The tools' names, arguments and descriptions: what a model reads of this server."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

import anyio
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import Field, JsonValue

from forge_bot import __version__
from forge_bot.mcp_server.confirming import Call
from forge_bot.mcp_server.desk import Desk
from forge_bot.mcp_server.serving import ForgeServer
from forge_bot.mcp_server.telling import answered
from forge_bot.mcp_server.voice import Voice
from forge_bot.mcp_server.wire import Previous

INSTRUCTIONS = (
    "forge-bot takes a task to a reviewed change: pipeline_init, pipeline_init_with_context (ask the person once), then "
    "pipeline_next_action until it says done. Do exactly the action you get: forge-bot decides what comes next, commits and runs the tests."
)
Object = dict[str, JsonValue]
Answer = TypeVar("Answer")

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def make_server(desk: Desk) -> ForgeServer:
    """The server for a desk, with everything it offers."""
    server = ForgeServer("forge-bot", version=__version__, instructions=INSTRUCTIONS, log_level="CRITICAL")
    _pipeline_tools(server, desk)
    return server


async def in_thread(call: Callable[[], Answer]) -> Answer:
    """Run a call of the desk beside the event loop, to its end even if the client goes away: nothing is left half recorded."""
    return await anyio.to_thread.run_sync(call)


def _pipeline_tools(server: ForgeServer, desk: Desk) -> None:
    @server.tool(annotations=_READS, structured_output=False)
    async def pipeline_init(arguments: str, current_branch: str = "", project: str = "") -> CallToolResult:
        """Read a task (words, issue URL, or .specs/RUN to resume; flags --auto --nopr --debug --discuss --effort=S|M|L). Writes nothing."""
        return answered(await in_thread(partial(desk.init, arguments, current_branch, project)))

    @server.tool(annotations=_WRITES, structured_output=False)
    async def pipeline_init_with_context(
        workspace: str,
        source_id: str = "",
        source_url: str = "",
        external_context: Object | None = None,
        flags: Object | None = None,
        task_text: str = "",
        user_confirmation: Annotated[
            Object | None, Field(description="effort, workspace_slug, use_current_branch, enriched_request_body")
        ] = None,
        discussion_answers: str = "",
    ) -> CallToolResult:
        """Detect effort; then, with the person's user_confirmation, begin the run. Pass on what pipeline_init returned."""
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
        call = Call.model_validate({name: value for name, value in given.items() if value is not None})
        return answered(await in_thread(partial(desk.init_with_context, call)))

    _loop_tools(server, desk)


def _loop_tools(server: ForgeServer, desk: Desk) -> None:
    @server.tool(annotations=_WRITES, structured_output=False)
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
    ) -> CallToolResult:
        """Report the action you did (with its action_id), or a person's answer, and get the next one. It may take minutes."""
        said = Previous(
            complete=previous_action_complete,
            tokens=previous_tokens,
            duration_ms=previous_duration_ms,
            model=previous_model,
            setup_only=previous_setup_only,
            error=previous_error,
            output=previous_output,
            action_id=action_id,
            user_response=user_response,
            digest=digest,
        )
        found = await in_thread(partial(desk.next_action, workspace, said, client_name(ctx), Voice(ctx)))
        return answered(found.action)

    @server.tool(annotations=_WRITES, structured_output=False)
    async def pipeline_report_result(
        workspace: str,
        phase: str,
        tokens_used: int = 0,
        duration_ms: int = 0,
        model: str = "",
        setup_only: bool = False,
        action_id: str = "",
    ) -> CallToolResult:
        """Record a phase's result without asking for the next action."""
        said = Previous(complete=True, tokens=tokens_used, duration_ms=duration_ms, model=model, setup_only=setup_only, action_id=action_id)
        return answered(await in_thread(partial(desk.report_result, workspace, phase, said)))


def client_name(ctx: Context[Any, Any]) -> str:
    """What the client calls itself; it may say anything."""
    told = ctx.session.client_params
    return "".join(sign for sign in told.client_info.name if sign.isprintable())[:60] if told is not None else ""
