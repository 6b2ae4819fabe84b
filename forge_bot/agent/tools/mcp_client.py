"""One session with one MCP server: list its tools, or call one; arguments are checked against the
schema of their tool before a call.

Each use starts the server, talks to it and ends it, all within one deadline. Results are cut and
masked here, before any other code sees them. The schemas come from servers. Checking one fetches
nothing and cannot hang on an expression.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from forge_bot.agent.capabilities import Declined, ProviderResult, ResultStatus, head
from forge_bot.agent.redaction import Redactor, redactor_of
from forge_bot.agent.tools.server_start import innermost, sentence_of, started
from forge_bot.agent.tools.setup import CapabilitySetup, secrets_for
from forge_bot.text_format import cut
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import Request


_MOST_FAULTS = 5
_MOST_STEPS = 100_000

JsonMap = Mapping[str, Any]


def schema_fault(schema: str) -> str:
    """Return why a schema cannot be used; empty if it can."""
    try:
        _validator(schema)
    # The library has several errors for schemas, and all of them mean this.
    except Exception as error:  # noqa: BLE001 - see above
        return " ".join(str(error).split())[:200] or type(error).__name__
    root: object = json.loads(schema)
    if not isinstance(root, dict) or cast("JsonMap", root).get("type") != "object":
        return "it does not say `type: object`"
    for name in cast("dict[str, Any]", cast("JsonMap", root).get("properties") or {}):
        if not name.isprintable() or "`" in name:
            return f"the parameter {cut(name, 100)!a} has a name that cannot be shown"
    return ""


def faults_of(schema: str, arguments: str) -> tuple[str, ...]:
    """Return the faults of arguments (canonical JSON); empty for valid ones."""
    errors = islice(_validator(schema).iter_errors(json.loads(arguments)), _MOST_FAULTS)
    return tuple(
        ": ".join(filter(None, (".".join(map(str, error.instance_path)), error.message)))
        for error in errors
    )


def _validator(schema: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        json.loads(schema),
        offline=True,
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_MOST_STEPS),
    )


T = TypeVar("T")


class MCPToolInfo(Frozen):
    """One tool as its server lists it. The schemas are JSON; without one of results it is empty.

    `fault` is what makes an entry of the list no tool of the protocol.
    """

    server_name: str
    tool_name: str
    description: str = ""
    input_schema: str = "{}"
    output_schema: str = ""
    reads_only: bool = False
    fault: str = ""


async def list_tools(setup: CapabilitySetup, name: str) -> tuple[MCPToolInfo, ...]:
    """Return the tools of a server, all pages of them. Raises Declined."""

    async def listed(client: "Client") -> tuple[MCPToolInfo, ...]:
        from mcp.types import ListToolsRequest, PaginatedRequestParams

        listing: list[MCPToolInfo] = []
        cursor: str | None = None
        while True:
            request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
            page = await _ask(client, request)
            tools, following = page.get("tools"), page.get("nextCursor")
            if not isinstance(tools, list):
                raise Declined(ResultStatus.TOOL_ERROR, f"{name} answers with no list of tools.")
            entries = enumerate(cast("list[object]", tools), len(listing) + 1)
            listing += [_tool_info(name, number, entry) for number, entry in entries]
            if not isinstance(following, str) or following in {"", cursor}:
                return tuple(listing)
            cursor = following

    return await _with_server(setup, name, listed)


def _tool_info(server: str, number: int, entry: object) -> MCPToolInfo:
    """Return a tool as it is listed; its schemas are judged one by one afterwards."""
    from mcp.types import Tool

    try:
        tool = Tool.model_validate(entry, by_name=False)
    except ValidationError as error:
        name = cast("JsonMap", entry).get("name") if isinstance(entry, dict) else None
        first = error.errors()[0]
        return MCPToolInfo(
            server_name=server,
            tool_name=name if isinstance(name, str) else f"number {number}, which has no name",
            fault=": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"]))),
        )
    output = tool.output_schema
    return MCPToolInfo(
        server_name=server,
        tool_name=tool.name,
        description=tool.description or "",
        input_schema=json.dumps(tool.input_schema, ensure_ascii=False),
        output_schema="" if output is None else json.dumps(output, ensure_ascii=False),
        reads_only=tool.annotations is not None and tool.annotations.read_only_hint is True,
    )


async def _ask(client: "Client", request: "Request[Any, Any]") -> JsonMap:
    """Return the answer of a server as it came. The SDK's own methods lose all of it for one part
    that does not fit, and check a result by the server's schema, which could hang them.
    """
    session: Any = client.session
    data = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    options: dict[str, Any] = {}
    session._stamp(data, options)  # noqa: SLF001 - see above
    send = session._dispatcher.send_raw_request  # noqa: SLF001 - see above
    return await send(data["method"], data.get("params"), options)


async def execute_mcp_tool(
    setup: CapabilitySetup, tool: MCPToolInfo, arguments: Mapping[str, object], limit: int
) -> ProviderResult:
    """Return the result of one call. Raises Declined, also for an error that the tool reports."""
    sent = False

    async def called(client: "Client") -> JsonMap:
        from mcp.types import CallToolRequest, CallToolRequestParams

        nonlocal sent
        sent = True
        params = CallToolRequestParams(name=tool.tool_name, arguments=dict(arguments))
        return await _ask(client, CallToolRequest(params=params))

    try:
        result = await _with_server(setup, tool.server_name, called)
    except Declined as declined:
        declined.sent = sent
        raise
    text = server_mask(setup, tool.server_name)(_text(result, tool.output_schema))
    shown = head(text or "It returned nothing.", limit)
    if result.get("isError") is True:
        raise Declined(ResultStatus.TOOL_ERROR, shown.content)
    return shown


def server_mask(setup: CapabilitySetup, name: str) -> Redactor:
    """Return what masks the values of variables in the words of a server."""
    return redactor_of(secrets_for([setup.config.mcp_servers[name]], setup.environ))


def _text(result: JsonMap, schema: str) -> str:
    """Return all that a result says, whether or not it is as the protocol has it: its blocks, and
    its structured part where no block repeats it.
    """
    content, structured = result.get("content"), result.get("structuredContent")
    blocks = cast("list[object]", content) if isinstance(content, list) else [content]
    parts = [_block_text(block) for block in blocks if block is not None]
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


def _block_text(given: object) -> str:
    from mcp.types import ContentBlock

    content: TypeAdapter[ContentBlock] = TypeAdapter(ContentBlock)
    try:
        block = content.validate_python(given, by_name=False)
    except ValidationError:
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
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
            return str(text) if text is not None else f"[resource {block.resource.uri}]"


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
        why = server_mask(setup, name)(f"The server {name} failed: {sentence_of(cause)}.")
        raise Declined(ResultStatus.TOOL_ERROR, why) from None
