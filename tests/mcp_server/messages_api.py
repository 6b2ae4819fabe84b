"""The provider that Claude Code asks: https://docs.claude.com/en/api/messages-streaming."""

import json
from contextlib import AbstractContextManager
from typing import Any

from tests.mcp_server.scripted import Block, Provider, Wire, events, providing


def says(text: str) -> Block:
    return {"type": "text", "text": text}


def uses(tool: str, **given: Any) -> Block:
    return {"type": "tool_use", "id": f"use-{tool}", "name": tool, "input": given}


def provider(*answers: Block) -> AbstractContextManager[Provider]:
    """A provider that gives these answers."""
    return providing(Wire("messages", _stream, says("A title")), answers)


def _stream(block: Block) -> str:
    usage = {"input_tokens": 1, "output_tokens": 1}
    opened: Block = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "usage": usage,
    }
    if block["type"] == "text":
        start, delta, why = says(""), {"type": "text_delta", "text": block["text"]}, "end_turn"
    else:
        empty: Block = {**block, "input": {}}
        start, delta, why = (
            empty,
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            "tool_use",
        )
    return events(
        {"type": "message_start", "message": opened},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": why, "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    )
