"""Fixtures of the conformance suite, second part: tools that speak with the client while they
run.
"""

# What the newer protocol deprecates is what the older one is tested with.
# pyright: reportDeprecated=false

import json
from typing import Annotated, Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    EmptyResult,
    SamplingMessage,
    SetLevelRequestParams,
    TextContent,
)
from pydantic import Field, JsonValue

from forge_bot.mcp_server.sdk_server.protocol import ForgeServer

_ASKED = {
    "type": "object",
    "properties": {"response": {"type": "string"}},
    "required": ["response"],
}
_DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
_CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)],
        },
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2"]},
        },
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2)]},
        },
    },
}


def add_dialogues(server: ForgeServer) -> None:
    """Everything that tells or asks the client something."""
    _telling(server)
    _asking(server)
    _changing(server)
    _requiring(server)

    async def take(
        ctx: ServerRequestContext[Any, Any], params: SetLevelRequestParams
    ) -> EmptyResult:
        return EmptyResult()

    # The suite asks for it; the product writes no log to its client.
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, take)


def _telling(server: ForgeServer) -> None:
    async def logged(ctx: Context[Any, Any]) -> str:
        for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(words)
        return "logged"

    for name in ("test_tool_with_logging", "test_logging_tool"):
        server.tool(name=name, description="Writes three lines of log.", structured_output=False)(
            logged
        )

    @server.tool(structured_output=False)
    async def test_tool_with_progress(ctx: Context[Any, Any]) -> str:
        """Tells how far it is."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        return "done"


def _asking(server: ForgeServer) -> None:
    @server.tool(structured_output=False)
    async def test_sampling(ctx: Context[Any, Any], prompt: str) -> str:
        """Lets the client's model answer."""
        message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        said = await ctx.session.create_message(
            [message], max_tokens=100, related_request_id=ctx.request_id
        )
        return (
            f"LLM response: {said.content.text if isinstance(said.content, TextContent) else '?'}"
        )

    async def ask(ctx: Context[Any, Any], message: str, schema: dict[str, Any]) -> str:
        said = await ctx.session.elicit_form(message, schema, ctx.request_id)
        return f"action={said.action}, content={json.dumps(said.content)}"

    @server.tool(structured_output=False)
    async def test_elicitation(ctx: Context[Any, Any], message: str) -> str:
        """Asks the client's person."""
        return f"User response: {await ask(ctx, message, _ASKED)}"

    @server.tool(structured_output=False)
    async def test_elicitation_sep1034_defaults(ctx: Context[Any, Any]) -> str:
        """Asks with answers filled in."""
        return f"Elicitation completed: {await ask(ctx, 'Please review these answers', _DEFAULTS)}"

    @server.tool(structured_output=False)
    async def test_elicitation_sep1330_enums(ctx: Context[Any, Any]) -> str:
        """Asks with answers to choose from."""
        return f"Elicitation completed: {await ask(ctx, 'Please choose', _CHOICES)}"


def _changing(server: ForgeServer) -> None:
    def new() -> str:
        """Comes and goes."""
        return "new"

    @server.tool(structured_output=False)
    async def test_trigger_tool_change(ctx: Context[Any, Any]) -> str:
        """Adds a tool and takes it away."""
        server.add_tool(new, name="test_dynamic_tool")
        server.remove_tool("test_dynamic_tool")
        await ctx.notify_tools_changed()
        return "changed"

    @server.tool(structured_output=False)
    async def test_trigger_prompt_change(ctx: Context[Any, Any]) -> str:
        """Adds a prompt and takes it away."""
        server.add_prompt(Prompt.from_function(new, name="test_dynamic_prompt"))
        server.remove_prompt("test_dynamic_prompt")
        await ctx.notify_prompts_changed()
        return "changed"


def _requiring(server: ForgeServer) -> None:
    @server.tool(structured_output=False)
    async def test_missing_capability(ctx: Context[Any, Any]) -> str:
        """Works only for clients with a model."""
        able = ctx.client_capabilities
        if able is None or able.sampling is None:
            needed: dict[str, JsonValue] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(
                MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool wants a client with a model.", needed
            )
        return "The client has a model."

    @server.tool(structured_output=False)
    def test_x_mcp_header(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "here",
    ) -> str:
        """Has an argument that stands in a header too."""
        return region
