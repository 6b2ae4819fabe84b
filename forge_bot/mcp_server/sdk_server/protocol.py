"""The server object: short tool lists in a fixed order, calls checked before they run, errors with
their structure.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from mcp import MCPError
from mcp.server import MCPServer, NotificationOptions
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, RequestStateSecurity
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.models import InitializationOptions
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    Resource,
    SubscribeRequestParams,
    Tool,
    UnsubscribeRequestParams,
)
from pydantic import JsonValue, ValidationError

from forge_bot.errors import BadArguments, ForgeError
from forge_bot.mcp_server.sdk_server.client_notifications import Listeners
from forge_bot.mcp_server.sdk_server.loading_ahead import steps
from forge_bot.mcp_server.sdk_server.session_policy import SessionPolicies
from forge_bot.mcp_server.sdk_server.stdio import StdioTransport
from forge_bot.mcp_server.service_calls import LazyService, in_thread
from forge_bot.mcp_server.tool_results import (
    UNEXPECTED,
    AtNode,
    broken,
    in_one_line,
    refused,
    sendable,
)
from forge_bot.sentences import say

Kind = TypeVar("Kind", bound=BaseException)

LONGEST_THOUGHT = 7 * 24 * 3600.0
"""Seconds that a person may take over a question that is a round of its own. An answer counts for
the version that was shown anyway."""

ROOTS = "forge://mcp/roots"
"""The address of the served folders."""

_GREETING = {"initialize", "notifications/initialized", "ping", "server/discover"}

MOST_CHARACTERS = 400_000
"""Of all arguments of one call together."""


class ForgeServer(MCPServer[Any]):
    """An MCP server whose answers a model can repair its calls from."""

    def __init__(
        self, service: LazyService, *, version: str, instructions: str, debug: bool = False
    ) -> None:
        seal = RequestStateSecurity.ephemeral(ttl=LONGEST_THOUGHT)
        super().__init__(
            "forge-bot",
            version=version,
            instructions=instructions,
            log_level="CRITICAL",
            request_state_security=seal,
        )
        self.policies = SessionPolicies(debug=debug)
        self.service = service
        self.listeners = Listeners()
        self._tools: dict[str, Tool] = {}
        # The SDK serves subscriptions of the newer protocol only.
        low = self._lowlevel_server
        low.middleware.append(self.policies)
        low.add_request_handler(
            "resources/subscribe", SubscribeRequestParams, self.listeners.subscribe
        )
        low.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, self.listeners.unsubscribe
        )
        # Nor does it let a server over HTTP say to clients of the older protocol that it tells of
        # changes.
        low.create_initialization_options = _telling_of_changes(low)

    def before_first_question(self, make: Callable[[], None]) -> None:
        """Call `make` once, before the first request of a client that is more than a greeting."""
        left = [make]

        async def made(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
            if left and ctx.method not in _GREETING:
                left.pop()()
            return await call_next(ctx)

        self._lowlevel_server.middleware.append(made)

    async def list_resources(self) -> list[Resource]:
        """Return the fixed resources and the current ones: the served repositories and their runs
        under way.
        """
        fixed = await super().list_resources()
        try:
            found = await in_thread(self._shelf)
        # The fixed resources can be listed whatever is wrong with the runs.
        except Exception as error:  # noqa: BLE001
            known = _cause(error, ForgeError)
            why = in_one_line(
                known or ForgeError(UNEXPECTED.format(tool=say("client.protocol.this_list")))
            )
            return [_incomplete(each, why) if each.uri == ROOTS else each for each in fixed]
        more = [
            Resource(uri=uri, name=name, description=about, mime_type=kind)
            for uri, name, about, kind in found
        ]
        return [*fixed, *more]

    async def list_tools(self) -> list[Tool]:
        """All tools by name, described in one line; input schemas without titles, and closed."""
        tools = sorted(await super().list_tools(), key=lambda tool: tool.name)
        return [
            tool.model_copy(
                update={
                    "description": _in_one_line(tool.description),
                    "input_schema": closed(tool.input_schema),
                    "output_schema": None,
                }
            )
            for tool in tools
        ]

    async def list_prompts(self) -> list[Prompt]:
        """All prompts, each described in one line."""
        return [
            prompt.model_copy(update={"description": _in_one_line(prompt.description)})
            for prompt in await super().list_prompts()
        ]

    def _shelf(self) -> tuple[tuple[str, str, str, str], ...]:
        return self.service().looking.shelf()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Arguments that it does not have are refused; no exception's words or
        traceback get out.
        """
        if name not in self._tools:
            self._tools = {tool.name: tool for tool in await super().list_tools()}
        if name not in self._tools:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name}")
        tool, session = self._tools[name], context.session if context is not None else None
        try:
            self.policies.check(tool, session)
            return await super().call_tool(name, checked(arguments, tool.input_schema), context)
        except (ToolError, ForgeError) as error:
            return self.told(error, name, debug=self.policies.of(session).debug)

    def told(self, error: Exception, tool: str, *, debug: bool = False) -> CallToolResult:
        """The result for whatever went wrong in a tool."""
        place = _cause(error, AtNode) or AtNode("")
        if (known := _cause(error, ForgeError)) is not None:
            return refused(
                known, tool, node=place.node, reads=place.reads, ui=place.ui, debug=debug
            )
        if (unfit := _cause(error, ValidationError)) is not None:
            return refused(
                BadArguments(
                    say("client.protocol.bad_call", tool=tool),
                    details=problems_of(unfit),
                ),
                tool,
                debug=debug,
            )
        return broken(error.__cause__ or error, tool, debug=debug)

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """Return a prompt. Raises MCPError only: for an unknown name or argument with the known
        ones, else without the cause.
        """
        known = {
            prompt.name: {each.name: each.required for each in prompt.arguments or ()}
            for prompt in await self.list_prompts()
        }
        if name not in known:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name}. There are {', '.join(known)}.")
        wanted, given = known[name], {*(arguments or {})}
        if given - {*wanted} or {each for each, required in wanted.items() if required} - given:
            raise MCPError(
                INVALID_PARAMS, f"The arguments of {name} are: {', '.join(wanted) or 'none'}."
            )
        try:
            return await super().get_prompt(name, arguments, context)
        except MCPError:
            raise
        except Exception as error:
            # The older protocol would pass the words of the exception on.
            raise MCPError(
                INTERNAL_ERROR, f"{ForgeError.code}: {UNEXPECTED.format(tool=name)}"
            ) from error

    async def run_stdio_async(self) -> None:
        """Serve one client over stdin and stdout."""
        ahead = steps(self.service)
        await StdioTransport(self._lowlevel_server, self.service.close, ahead).serve()


def _incomplete(roots: Resource, why: str) -> Resource:
    """Return the entry of the served folders with the reason why the list lacks them."""
    said = f"Repositories, runs and pipelines are not in this list. {why}"
    return roots.model_copy(update={"description": said})


def _telling_of_changes(server: Server[Any]) -> Callable[..., InitializationOptions]:
    """Return a function that makes a server's greeting, which announces notifications of changes
    unless the caller decides otherwise.
    """
    plain = server.create_initialization_options

    def made(
        notification_options: NotificationOptions | None = None, *more: Any, **named: Any
    ) -> InitializationOptions:
        told = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return plain(notification_options or told, *more, **named)

    return made


def _cause(error: BaseException, kind: type[Kind]) -> Kind | None:
    """Return the error or one of its causes, if it is of a class."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, kind):
        cause = cause.__cause__
    return cause


def _in_one_line(text: str | None) -> str:
    """Return a docstring without its line breaks and its indentation."""
    return " ".join((text or "").split())


def problems_of(error: ValidationError) -> tuple[str, ...]:
    """Return the problems of arguments, a line each, without their values."""
    return tuple(
        f"{'.'.join(str(step) for step in each['loc']) or 'arguments'}: {each['msg']}"
        for each in error.errors()[:10]
    )


def checked(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments without optional ones that are null, and with a sign for what no text can hold.
    Raises BadArguments for unknown names,
    and for too much.
    """
    known = schema.get("properties", {})
    if extra := sorted(set(arguments) - set(known)):
        raise BadArguments(
            say("client.protocol.no_such_argument", extra=", ".join(extra)),
            details=(f"known: {', '.join(known)}",),
        )
    needed = schema.get("required", ())
    given = {
        name: value for name, value in arguments.items() if value is not None or name in needed
    }
    text = json.dumps(given, ensure_ascii=False)
    if len(text) > MOST_CHARACTERS:
        hint = say("client.protocol.write_it_into_a_file")
        raise BadArguments(
            say(
                "client.protocol.arguments_too_long",
                count=len(text),
                most_characters=MOST_CHARACTERS,
            ),
            hint=hint,
        )
    clean = sendable(text)
    return given if clean == text else json.loads(clean)


def closed(schema: dict[str, Any]) -> dict[str, JsonValue]:
    """An input schema without titles and without `or null`, that names every argument there is."""
    slim = _slim(schema)
    return {**slim, "additionalProperties": False}


def _slim(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        found[key] = (
            {name: _slim(each) for name, each in value.items()} if key == "properties" else value
        )
    choices = found.get("anyOf", ())
    if len(choices) == 2 and {"type": "null"} in choices:  # noqa: PLR2004 - one form and null
        del found["anyOf"]
        found |= next(choice for choice in choices if choice != {"type": "null"})
    # That an argument may be left out stands under `required` already, and an object is open unless
    # it says otherwise.
    for key, usual in (
        ("default", not found.get("default")),
        ("additionalProperties", found.get("additionalProperties") is True),
    ):
        if usual:
            found.pop(key, None)
    return found
