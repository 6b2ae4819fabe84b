"""One session with one MCP server: list its tools, or call one.

Each use starts the server, talks to it and ends it, all within one deadline. Results are cut and
masked here, before any other code sees them.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_result import Declined, ProviderResult, head
from forge_bot.agent.redaction import redactor_of
from forge_bot.agent.tools.argument_schema import faults_of
from forge_bot.agent.tools.placeholders import secrets_for
from forge_bot.agent.tools.server_start import innermost, sentence_of, started
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import Request

T = TypeVar("T")


class MCPToolInfo(Frozen):
    """One tool as its server lists it. The schemas are JSON; without one of results it is empty."""

    server_name: str
    tool_name: str
    description: str = ""
    input_schema: str = "{}"
    output_schema: str = ""
    reads_only: bool = False


async def list_tools(setup: CapabilitySetup, name: str) -> tuple[MCPToolInfo, ...]:
    """Return the tools of a server, all pages of them. Raises Declined."""

    async def listed(client: "Client") -> tuple[MCPToolInfo, ...]:
        from mcp.types import ListToolsRequest, PaginatedRequestParams

        listing: list[MCPToolInfo] = []
        cursor: str | None = None
        while True:
            page = await _asked(
                client, ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
            )
            tools = page.get("tools")
            if not isinstance(tools, list):
                raise Declined(ResultStatus.TOOL_ERROR, f"{name} answers with no list of tools.")
            entries = enumerate(cast("list[object]", tools), len(listing) + 1)
            listing += [_tool(name, number, entry) for number, entry in entries]
            following = page.get("nextCursor")
            if not isinstance(following, str) or following in {"", cursor}:
                return tuple(listing)
            cursor = following

    return await _with_server(setup, name, listed)


def _tool(server: str, number: int, entry: object) -> MCPToolInfo:
    """Return a tool as it is listed; its schemas are judged one by one afterwards."""
    listed = _mapping(entry)
    name, hints, output = listed.get("name"), listed.get("annotations"), listed.get("outputSchema")
    named = isinstance(name, str) and bool(name)
    return MCPToolInfo(
        server_name=server,
        tool_name=str(name) if named else f"number {number}, which has no name",
        description=str(listed.get("description") or ""),
        input_schema=json.dumps(listed.get("inputSchema") if named else None, ensure_ascii=False),
        output_schema="" if output is None else json.dumps(output, ensure_ascii=False),
        reads_only=_mapping(hints).get("readOnlyHint") is True,
    )


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


async def _asked(client: "Client", request: "Request[Any, Any]") -> Mapping[str, object]:
    """Return the answer of a server as it came. The SDK's own methods lose all of it for one part
    that does not fit.
    """
    session: Any = client.session
    data = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    options: dict[str, Any] = {}
    session._stamp(data, options)  # noqa: SLF001 - see above
    send = session._dispatcher.send_raw_request  # noqa: SLF001 - see above
    return _mapping(await send(data["method"], data.get("params"), options))


async def execute_mcp_tool(
    setup: CapabilitySetup, tool: MCPToolInfo, arguments: Mapping[str, object], limit: int
) -> ProviderResult:
    """Return the result of one call. Raises Declined, also for an error that the tool reports."""
    sent = False

    async def called(client: "Client") -> Mapping[str, object]:
        from mcp.types import CallToolRequest, CallToolRequestParams

        nonlocal sent
        sent = True
        params = CallToolRequestParams(name=tool.tool_name, arguments=dict(arguments))
        return await _asked(client, CallToolRequest(params=params))

    try:
        result = await _with_server(setup, tool.server_name, called)
    except Declined as declined:
        declined.sent = sent
        raise
    text = redactor_of(server_secrets(setup, tool.server_name))(_text(result, tool.output_schema))
    shown = head(text or "It returned nothing.", limit)
    if result.get("isError") is True:
        raise Declined(ResultStatus.TOOL_ERROR, shown.content)
    return shown


def server_secrets(setup: CapabilitySetup, name: str) -> dict[str, str]:
    """Return the values to mask in the words of a server."""
    return secrets_for([setup.config.mcp_servers[name]], setup.environ)


def _text(result: Mapping[str, object], schema: str) -> str:
    """Return all that a result says, whether or not its parts are as they should be."""
    content, structured = result.get("content"), result.get("structuredContent")
    blocks = cast("list[object]", content) if isinstance(content, list) else [content]
    parts = [_block(block) for block in blocks if block is not None]
    if structured is not None:
        text = json.dumps(structured, ensure_ascii=False)
        if not any(_repeats(part, structured) for part in parts):
            parts.append(text)
        if schema and (faults := faults_of(schema, text)):
            parts.append(f"[Its structured result does not fit the tool's schema: {faults[0]}]")
    return "\n".join(parts)


def _repeats(text: str, value: object) -> bool:
    """Return whether a block repeats the structured result, as servers are asked to do."""
    try:
        return json.loads(text) == value or {"result": json.loads(text)} == value
    except ValueError:
        return value == {"result": text}


def _block(block: object) -> str:
    given = _mapping(block)
    kind, inner = given.get("type"), _mapping(given.get("resource"))
    text = given.get("text", inner.get("text"))
    if isinstance(block, str) or isinstance(text, str):
        return block if isinstance(block, str) else str(text)
    if kind in {"image", "audio"}:
        size = len(str(given.get("data"))) * 3 // 4
        return f"[{kind}, {given.get('mimeType')}, {size:,} bytes: not shown]"
    if kind == "resource_link":
        return f"[resource {given.get('name')}: {given.get('uri')}]"
    if kind == "resource":
        return f"[resource {inner.get('uri')}]"
    return f"[{kind}: not shown]"


async def _with_server(
    setup: CapabilitySetup, name: str, use: "Callable[[Client], Awaitable[T]]"
) -> T:
    """Return what `use` returns. Every trouble of the server is a Declined with its reason."""
    server = setup.config.mcp_servers[name]
    clock = asyncio.timeout(setup.policy.seconds)
    try:
        async with clock, started(setup, name, server) as client:
            return await use(client)
    except TimeoutError:
        if not clock.expired():
            raise
        why = f"The server {name} did not finish within {setup.policy.seconds:g} seconds."
        raise Declined(ResultStatus.TIMEOUT, why) from None
    # A server can break its client in any way, and the run has to go on.
    except Exception as error:  # noqa: BLE001 - see above
        cause = innermost(error)
        if isinstance(cause, Declined):
            raise cause from None
        mask = redactor_of(server_secrets(setup, name))
        why = mask(f"The server {name} failed: {sentence_of(cause)}.")
        raise Declined(ResultStatus.TOOL_ERROR, why) from None
