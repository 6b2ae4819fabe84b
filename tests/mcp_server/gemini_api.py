"""The provider that Gemini CLI asks: https://ai.google.dev/api/generate-content, the method
streamGenerateContent.
"""

from contextlib import AbstractContextManager
from typing import Any

from tests.mcp_server.scripted import Block, Provider, Wire, events, providing


def says(text: str) -> Block:
    return {"text": text}


def uses(tool: str, **given: Any) -> Block:
    return {"functionCall": {"name": tool, "args": given}}


def provider(*answers: Block) -> AbstractContextManager[Provider]:
    """A provider that gives these answers."""
    return providing(Wire("contents", _stream, says("A title")), answers)


def offered(question: Block, prefix: str) -> dict[str, Block]:
    """The parameters of the tools of a question whose names begin so, by the rest of the name;
    without what Gemini CLI adds to each.
    """
    tools = [tool for group in question["tools"] for tool in group.get("functionDeclarations", [])]
    result = {
        tool["name"].removeprefix(prefix): tool["parametersJsonSchema"]
        for tool in tools
        if tool["name"].startswith(prefix)
    }
    return {
        name: {**item, "properties": _without(item["properties"], "wait_for_previous")}
        for name, item in result.items()
    }


def _without(named: Block, name: str) -> Block:
    return {key: value for key, value in named.items() if key != name}


def _stream(part: Block) -> str:
    candidate: Block = {
        "content": {"role": "model", "parts": [part]},
        "finishReason": "STOP",
        "index": 0,
    }
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return events({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"})
