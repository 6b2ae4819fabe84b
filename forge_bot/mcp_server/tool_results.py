"""Answers and errors as results of tools: compact JSON for the model, structure beside it in
`_meta`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mcp.types import CallToolResult, ContentBlock, ResourceLink, TextContent
from pydantic import BaseModel, JsonValue

from forge_bot.errors import ArtifactUnfit, ForgeError
from forge_bot.interaction.remedy_words import advice_for_client

_HALVES = re.compile("[\ud800-\udfff]")


class AtNode(Exception):
    """The place of an error in a run: the outstanding phase or artifact, and its inputs. The error
    is the cause of this one.
    """

    def __init__(self, node: str, reads: Sequence[str] = ()) -> None:
        super().__init__(node)
        self.node = node
        self.reads = tuple(reads)


def make_sendable(text: str) -> str:
    """Return the text without lone surrogates, which git's file names may have and JSON may not."""
    return _HALVES.sub("\ufffd", text)


def state_address(workspace: str) -> str:
    """The address of a run's state."""
    return f"forge://run/{_run(workspace)}/state"


def artifact_address(workspace: str, name: str) -> str:
    """The address of a document of a run."""
    return f"forge://run/{_run(workspace)}/artifact/{name}"


def _run(workspace: str) -> str:
    return workspace.strip().rstrip("/").rpartition("/")[2]


def make_result(
    answer: BaseModel | Mapping[str, JsonValue],
    *,
    meta: Mapping[str, JsonValue] | None = None,
    links: Sequence[str] = (),
) -> CallToolResult:
    """Return the result with an answer. `links` are addresses of further resources."""
    body = answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer
    text = make_sendable(json.dumps(body, separators=(",", ":"), ensure_ascii=False))
    blocks: list[ContentBlock] = [TextContent(type="text", text=text)]
    blocks += [
        ResourceLink(type="resource_link", name=uri.rpartition("/")[2], uri=uri) for uri in links
    ]
    return CallToolResult(
        content=blocks, structured_content=json.loads(text), _meta=_sendable(meta or {}) or None
    )


def _sendable(meta: Mapping[str, JsonValue]) -> dict[str, Any]:
    return json.loads(make_sendable(json.dumps(meta, ensure_ascii=False)))


def describe_error(error: ForgeError) -> str:
    """Return an error as a model reads it: code, message, each detail with its place on a line of
    its own, the way out.
    """
    lines = (
        f"{error.code}: {error.message}",
        *(f"- {detail}" for detail in error.details),
        advice_for_client(error),
    )
    return make_sendable("\n".join(line for line in lines if line))


def make_unexpected_error(error: BaseException, tool: str) -> ForgeError:
    """Return the error for what nobody foresaw, without its message and traceback, which may
    contain anything.
    """
    made = ForgeError(
        f"Something unexpected happened in {tool}. What was recorded is not lost; ask for the next"
        " action again."
    )
    made.__cause__ = error
    return made


def make_refusal(
    error: ForgeError, tool: str, place: AtNode | None = None, *, debug: bool = False
) -> CallToolResult:
    """Return the result for a refusal: the problem, its place, and the hint."""
    place = place or AtNode("")
    context: dict[str, JsonValue] = {
        "details": list(error.details),
        "hint": advice_for_client(error),
    }
    if type(error) is ForgeError:
        context["exception"] = type(error.__cause__).__name__
    body: dict[str, JsonValue] = {
        "code": error.code,
        "domain": error.domain,
        "message": error.message,
        "node_id": place.node,
        "dependency_ids": list(place.reads),
        "source_tool": tool,
        "check_class": type(error).__name__,
        "context": context if debug else {},
    }
    meta: dict[str, JsonValue] = {"error": body}
    if isinstance(error, ArtifactUnfit):
        meta["hints"] = {"next": "revision_required"}
    return CallToolResult(
        is_error=True,
        content=[TextContent(type="text", text=describe_error(error))],
        _meta=_sendable(meta),
    )
