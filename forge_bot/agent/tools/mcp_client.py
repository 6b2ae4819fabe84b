"""One session with one MCP server: list its tools, or call one.

Each use starts the server, talks to it and ends it, all within one deadline. Results are cut and
masked here, before any other code sees them.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_result import Declined, ProviderResult, head
from forge_bot.agent.redaction import redactor_of
from forge_bot.agent.tools.placeholders import secrets_for
from forge_bot.agent.tools.server_start import innermost, sentence_of, started
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, ContentBlock

_MOST_TOOLS = 500
_MOST_PAGES = 50

T = TypeVar("T")


class MCPToolInfo(Frozen):
    """One tool as its server lists it. `input_schema` is JSON."""

    server_name: str
    tool_name: str
    description: str = ""
    input_schema: str = "{}"
    reads_only: bool = False


async def list_tools(setup: CapabilitySetup, name: str) -> tuple[MCPToolInfo, ...]:
    """Return the tools of a server, all pages of them. Raises Declined."""

    async def listed(client: "Client") -> tuple[MCPToolInfo, ...]:
        found: list[MCPToolInfo] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += [
                MCPToolInfo(
                    server_name=name,
                    tool_name=tool.name,
                    description=tool.description or "",
                    input_schema=json.dumps(tool.input_schema, ensure_ascii=False),
                    reads_only=bool(tool.annotations and tool.annotations.read_only_hint),
                )
                for tool in page.tools
            ]
            if len(found) > _MOST_TOOLS:
                raise Declined(
                    ResultStatus.TOOL_ERROR, f"{name} lists more than {_MOST_TOOLS} tools."
                )
            if not page.next_cursor or page.next_cursor == cursor:
                return tuple(found)
            cursor = page.next_cursor
        said = f"The list of tools of {name} has more than {_MOST_PAGES} pages."
        raise Declined(ResultStatus.TOOL_ERROR, said)

    return await _with_server(setup, name, listed)


async def execute_mcp_tool(
    setup: CapabilitySetup, tool: MCPToolInfo, arguments: Mapping[str, object], limit: int
) -> ProviderResult:
    """Return the result of one call. Raises Declined, also for an error that the tool reports."""
    sent = False

    async def called(client: "Client") -> "CallToolResult":
        nonlocal sent
        sent = True
        return await client.call_tool(tool.tool_name, dict(arguments))

    try:
        result = await _with_server(setup, tool.server_name, called)
    except Declined as declined:
        declined.sent = sent
        raise
    text = redactor_of(server_secrets(setup, tool.server_name))(_text(result))
    shown = head(text or "It returned nothing.", limit)
    if result.is_error:
        raise Declined(ResultStatus.TOOL_ERROR, shown.content)
    return shown


def server_secrets(setup: CapabilitySetup, name: str) -> dict[str, str]:
    """Return the values to mask in the words of a server."""
    return secrets_for([setup.config.mcp_servers[name]], setup.environ)


def _text(result: "CallToolResult") -> str:
    parts = [_block(block) for block in result.content]
    structured: object = result.structured_content
    if structured is not None and not any(_repeats(part, structured) for part in parts):
        parts.append(json.dumps(structured, ensure_ascii=False))
    return "\n".join(parts)


def _repeats(text: str, value: object) -> bool:
    """Return whether a block repeats the structured result, as servers are asked to do."""
    try:
        return json.loads(text) == value or {"result": json.loads(text)} == value
    except ValueError:
        return value == {"result": text}


def _block(block: "ContentBlock") -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            size = len(block.data) * 3 // 4
            return f"[{block.type}, {block.mime_type}, {size:,} bytes: not shown]"
        case "resource_link":
            return f"[resource {block.name}: {block.uri}]"
        case "resource":
            text = getattr(block.resource, "text", None)
            return text if isinstance(text, str) else f"[resource {block.resource.uri}]"


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
        said = f"The server {name} did not finish within {setup.policy.seconds:g} seconds."
        raise Declined(ResultStatus.TIMEOUT, said) from None
    # A server can break its client in any way, and the run has to go on.
    except Exception as error:  # noqa: BLE001 - see above
        cause = innermost(error)
        if isinstance(cause, Declined):
            raise cause from None
        mask = redactor_of(server_secrets(setup, name))
        said = mask(f"The server {name} failed: {sentence_of(cause)}.")
        raise Declined(ResultStatus.TOOL_ERROR, said) from None
