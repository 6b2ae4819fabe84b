"""Fixtures of the conformance suite, third part: questions as rounds of their own, in the newer
protocol.
"""

import json
from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

from forge_bot.mcp_server.sdk_server.protocol import ForgeServer

_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _form(message: str, **fields: str) -> ElicitRequest:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": [*fields]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=100)
    )


def _asked(state: str | None = None, **requests: InputRequest) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def _field(responses: Mapping[str, Any] | None, key: str, name: str) -> str | None:
    """What the client's person wrote into a form, if they did."""
    answer = (responses or {}).get(key)
    return (
        str((answer.content or {}).get(name))
        if isinstance(answer, ElicitResult) and answer.action == "accept"
        else None
    )


def add_rounds(server: ForgeServer) -> None:
    """Every way in which a call comes back with a question."""
    _once(server)
    _with_state(server)
    _by_capability(server)
    _prompt(server)

    @server.tool(structured_output=False)
    def json_schema_2020_12_tool() -> str:
        """Has a schema with everything in it."""
        return "fine"

    # The SDK has no public way to give a tool a schema of its own.
    tool = server._tool_manager.get_tool("json_schema_2020_12_tool")  # pyright: ignore[reportPrivateUsage]
    assert tool is not None
    tool.parameters = _SCHEMA


def _once(server: ForgeServer) -> None:
    async def name(ctx: Context[Any, Any]) -> str | InputRequiredResult:
        told = _field(ctx.input_responses, "user_name", "name")
        return (
            _asked(user_name=_form("What is your name?", name="string"))
            if told is None
            else f"Hello, {told}!"
        )

    for title in ("test_input_required_result_elicitation", "test_streaming_elicitation"):
        server.tool(name=title, description="Asks for a name.", structured_output=False)(name)

    @server.tool(structured_output=False)
    async def test_input_required_result_sampling(
        ctx: Context[Any, Any],
    ) -> str | InputRequiredResult:
        """Asks the client's model."""
        said = (ctx.input_responses or {}).get("capital_question")
        if not isinstance(said, CreateMessageResult):
            return _asked(capital_question=_sample("What is the capital of France?"))
        return said.content.text if isinstance(said.content, TextContent) else "?"

    @server.tool(structured_output=False)
    async def test_input_required_result_list_roots(
        ctx: Context[Any, Any],
    ) -> str | InputRequiredResult:
        """Asks for the client's roots."""
        said = (ctx.input_responses or {}).get("client_roots")
        if not isinstance(said, ListRootsResult):
            return _asked(client_roots=ListRootsRequest())
        return f"{len(said.roots)} roots: {', '.join(str(root.uri) for root in said.roots)}"


def _with_state(server: ForgeServer) -> None:
    confirm = _form("Please confirm", ok="boolean")

    @server.tool(structured_output=False)
    async def test_input_required_result_request_state(
        ctx: Context[Any, Any],
    ) -> str | InputRequiredResult:
        """Wants its state back."""
        known = ctx.request_state == "first" and "confirm" in (ctx.input_responses or {})
        return "state-ok" if known else _asked("first", confirm=confirm)

    @server.tool(structured_output=False)
    async def test_input_required_result_tampered_state(
        ctx: Context[Any, Any],
    ) -> str | InputRequiredResult:
        """Wants its state back unchanged."""
        return (
            f"state-ok: {ctx.request_state}"
            if ctx.request_state is not None
            else _asked("first", confirm=confirm)
        )

    @server.tool(structured_output=False)
    async def test_input_required_result_multiple_inputs(
        ctx: Context[Any, Any],
    ) -> str | InputRequiredResult:
        """Asks three things at once."""
        if {"user_name", "greeting", "client_roots"} <= {*(ctx.input_responses or {})}:
            return "All inputs are there."
        name = _form("What is your name?", name="string")
        return _asked(
            "several",
            user_name=name,
            greeting=_sample("Greet somebody"),
            client_roots=ListRootsRequest(),
        )

    @server.tool(structured_output=False)
    async def test_input_required_result_multi_round(
        ctx: Context[Any, Any],
    ) -> str | InputRequiredResult:
        """Asks one thing after the other."""
        state = json.loads(ctx.request_state or "{}")
        color = _field(ctx.input_responses, "step2", "color")
        if state.get("name") is not None and color is not None:
            return f"{state['name']} likes {color}."
        name = _field(ctx.input_responses, "step1", "name") if state else None
        if name is None:
            return _asked(
                json.dumps({"round": 1}), step1=_form("Step 1: What is your name?", name="string")
            )
        return _asked(
            json.dumps({"round": 2, "name": name}),
            step2=_form("Step 2: What is your favorite color?", color="string"),
        )


def _by_capability(server: ForgeServer) -> None:
    @server.tool(structured_output=False)
    async def test_input_required_result_capabilities(
        ctx: Context[Any, Any],
    ) -> InputRequiredResult:
        """Asks only for what the client can do."""
        able = ctx.client_capabilities
        requests: dict[str, InputRequest] = {}
        if able is not None and able.sampling is not None:
            requests["sample"] = _sample("Say hello")
        if able is not None and able.elicitation is not None:
            requests["ask"] = _form("What is your name?", name="string")
        return _asked("by capability", **requests)


def _prompt(server: ForgeServer) -> None:
    @server.prompt()
    async def test_input_required_result_prompt(
        ctx: Context[Any, Any],
    ) -> list[Message] | InputRequiredResult:
        """Asks before it answers."""
        told = _field(ctx.input_responses, "user_context", "context")
        if told is None:
            return _asked(
                user_context=_form("What context should the prompt use?", context="string")
            )
        return [UserMessage(f"Use the following context: {told}")]
