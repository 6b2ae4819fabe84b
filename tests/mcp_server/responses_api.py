"""The provider that Codex asks: https://platform.openai.com/docs/api-reference/responses-streaming,
with its tools in namespaces.
"""

import json
from contextlib import AbstractContextManager
from typing import Any

from tests.mcp_server.scripted import Block, Provider, Wire, events, providing


def says(text: str) -> Block:
    return {
        "type": "message",
        "role": "assistant",
        "id": "m",
        "content": [{"type": "output_text", "text": text}],
    }


def uses(tool: str, *, of: str = "", **given: Any) -> Block:
    """A call of a tool, of a namespace or of none."""
    call = {
        "type": "function_call",
        "call_id": f"use-{tool}",
        "name": tool,
        "arguments": json.dumps(given),
    }
    return {**call, "namespace": of} if of else call


def provider(*answers: Block) -> AbstractContextManager[Provider]:
    """A provider that gives these answers."""
    return providing(Wire("input", _stream, says("A title")), answers)


def offered(question: Block, namespace: str) -> dict[str, Block]:
    """The parameters of the tools in a namespace of a question, by name."""
    groups = [group["tools"] for group in question["tools"] if group.get("name") == namespace]
    return {tool["name"]: tool["parameters"] for tools in groups for tool in tools}


def _stream(item: Block) -> str:
    usage: Block = {
        "input_tokens": 1,
        "output_tokens": 1,
        "total_tokens": 2,
        "input_tokens_details": None,
        "output_tokens_details": None,
    }
    return events(
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    )
