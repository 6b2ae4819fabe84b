"""The server object: calls checked before they run, errors with their structure, subscriptions, and
the service behind it all.
"""

import contextlib
import json
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp import MCPError
from mcp.server import MCPServer, NotificationOptions
from mcp.server.mcpserver import Context, RequestStateSecurity
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    InputRequiredResult,
    Resource,
    SubscribeRequestParams,
    Tool,
    UnsubscribeRequestParams,
)
from pydantic import ValidationError

from forge_bot import __version__
from forge_bot.errors import BadArguments, ForgeError
from forge_bot.mcp_server.sdk_server.client_sessions import Listeners, SessionPolicies
from forge_bot.mcp_server.tool_results import (
    AtNode,
    make_refusal,
    make_sendable,
    make_unexpected_error,
)

if TYPE_CHECKING:
    from forge_bot.mcp_server.service import Service

Answer = TypeVar("Answer")
Kind = TypeVar("Kind", bound=BaseException)

INSTRUCTIONS = (
    "forge-bot takes a task to a reviewed change: pipeline_init, pipeline_init_with_context (ask"
    " the person once), then pipeline_next_action until it says done. Do exactly the action you"
    " get: forge-bot decides what comes next, commits and runs the tests."
)

ROOTS = "forge://mcp/roots"
"""The address of the served repository."""

LONGEST_THOUGHT = 7 * 24 * 3600.0
"""Seconds that a person may take over a question that is a round of its own. An answer counts for
the version that was shown anyway."""

_SECONDS_AFTER_CLIENT = 2.0

_TELLS_CHANGES = NotificationOptions(
    prompts_changed=True, resources_changed=True, tools_changed=True
)


class ForgeServer(MCPServer[Any]):
    """An MCP server for a repository, whose answers a model can repair its calls from."""

    def __init__(self, folder: Path | None, *, debug: bool = False, by_path: bool = False) -> None:
        super().__init__(
            "forge-bot",
            version=__version__,
            instructions=INSTRUCTIONS,
            log_level="CRITICAL",
            request_state_security=RequestStateSecurity.ephemeral(ttl=LONGEST_THOUGHT),
        )
        self.folder = folder
        self.by_path = by_path
        self.policies = SessionPolicies(debug=debug)
        self.listeners = Listeners()
        self._known: dict[str, Tool] = {}
        # The SDK serves subscriptions of the newer protocol only.
        low = self._lowlevel_server
        low.middleware.append(self.policies)
        low.add_request_handler(
            "resources/subscribe", SubscribeRequestParams, self.listeners.subscribe
        )
        low.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, self.listeners.unsubscribe
        )
        # Nor does it let a server say to clients of the older protocol that it tells of changes.
        plain = low.create_initialization_options

        def tell_changes(
            notification_options: NotificationOptions | None = None, *more: Any, **named: Any
        ) -> InitializationOptions:
            return plain(notification_options or _TELLS_CHANGES, *more, **named)

        low.create_initialization_options = tell_changes

    async def run_stdio_async(self) -> None:
        """Serve one client over stdin and stdout. When it disconnects while a command runs for it,
        the process ends, as a kill does: what is recorded is whole at any moment.
        """
        options = self._lowlevel_server.create_initialization_options()
        async with stdio_server() as (read, write), anyio.create_task_group() as group:
            send, receive = anyio.create_memory_object_stream[SessionMessage | Exception]()

            async def pass_on() -> None:
                async with send:
                    async for message in read:
                        await send.send(message)
                await anyio.sleep(_SECONDS_AFTER_CLIENT)
                os._exit(0)

            group.start_soon(pass_on)
            await self._lowlevel_server.run(receive, write, options)
            group.cancel_scope.cancel()

    @cached_property
    def service(self) -> "Service":
        """The service, made at the first call: importing the engine takes as long as importing the
        protocol.
        """
        from forge_bot.mcp_server.service import Service

        return Service(self.folder, by_path=self.by_path)

    async def ask(self, question: "Callable[[Service], Answer]") -> Answer:
        """Ask the service in a thread, to the end even if the client disconnects, so that nothing
        is recorded by half.
        """
        service = self.service
        return await anyio.to_thread.run_sync(lambda: question(service))

    async def list_resources(self) -> list[Resource]:
        """Return the fixed resources and the current ones: the served repository and its runs under
        way, where they can be read.
        """
        fixed = await super().list_resources()
        with contextlib.suppress(ForgeError):
            return [*fixed, *await self.ask(lambda service: service.queries.resources())]
        return fixed

    async def list_tools(self) -> list[Tool]:
        """All tools by name, described in one line."""
        return [
            tool.model_copy(update={"description": " ".join((tool.description or "").split())})
            for tool in sorted(await super().list_tools(), key=lambda tool: tool.name)
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Arguments that it does not have are refused; no exception's words or
        traceback get out.
        """
        if name not in self._known:
            self._known = {tool.name: tool for tool in await super().list_tools()}
        if name not in self._known:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name}")
        tool = self._known[name]
        try:
            self.policies.check(tool)
            return await super().call_tool(
                name, check_arguments(arguments, tool.input_schema), context
            )
        except (ToolError, ForgeError) as error:
            debug = self.policies.current.debug
            return make_refusal(
                _find_known_error(error, name), name, _find_cause(error, AtNode), debug=debug
            )


def _find_known_error(error: Exception, tool: str) -> ForgeError:
    """The error to tell for whatever went wrong in a tool."""
    if (known := _find_cause(error, ForgeError)) is not None:
        return known
    if (unfit := _find_cause(error, ValidationError)) is not None:
        return BadArguments(f"{tool} cannot be called like this.", details=list_problems(unfit))
    return make_unexpected_error(error.__cause__ or error, tool)


def _find_cause(error: BaseException, kind: type[Kind]) -> Kind | None:
    """Return the error or one of its causes, if it is of a class."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, kind):
        cause = cause.__cause__
    return cause


def list_problems(error: ValidationError) -> tuple[str, ...]:
    """Return the problems of arguments, a line each, without their values."""
    return tuple(
        f"{'.'.join(str(step) for step in problem['loc']) or 'arguments'}: {problem['msg']}"
        for problem in error.errors()[:10]
    )


def check_arguments(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments without those that are null, and with a sign for what no text can hold. Raises
    BadArguments for unknown names.
    """
    known = schema.get("properties", {})
    if extra := sorted(set(arguments) - set(known)):
        raise BadArguments(
            f"There is no argument {', '.join(extra)}.", details=(f"known: {', '.join(known)}",)
        )
    given = {name: value for name, value in arguments.items() if value is not None}
    return json.loads(make_sendable(json.dumps(given, ensure_ascii=False)))
