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

_ALWAYS_LEFT_OUT = ("source_url", "source_id", "fetch_needed", "command")
"""Keys that are left out when they are empty."""

_HALVES = re.compile("[\ud800-\udfff]")

UNEXPECTED = (
    "Something unexpected happened in {tool}. What was recorded is not lost; ask for the next"
    " action again."
)


def sendable(text: str) -> str:
    """Return the text without lone surrogates, which git's file names may have and JSON may not."""
    return _HALVES.sub("\ufffd", text)


def links_of(workspace: str) -> tuple[str, ...]:
    """Addresses of the resources of a run."""
    return tuple(f"forge://run/{_run(workspace)}/{part}" for part in ("state", "artifacts", "log"))


def artifact_of(workspace: str, name: str) -> tuple[str, str]:
    """Name and address of a document of a run."""
    return name, f"forge://run/{_run(workspace)}/artifact/{name}"


def _run(workspace: str) -> str:
    return workspace.strip().rstrip("/").rpartition("/")[2]


def answered(
    answer: BaseModel,
    *,
    meta: Mapping[str, JsonValue] | None = None,
    links: Sequence[tuple[str, str]] = (),
    sparse: bool = False,
) -> CallToolResult:
    """Return the result with an answer. `links` are names and addresses of further resources;
    `sparse` leaves out default values.
    """
    text = sendable(
        json.dumps(
            _plain(answer.model_dump(mode="json", exclude_defaults=sparse)),
            separators=(",", ":"),
            ensure_ascii=False,
        )
    )
    body = json.loads(text)
    blocks: list[ContentBlock] = [TextContent(type="text", text=text)]
    blocks += [ResourceLink(type="resource_link", name=name, uri=uri) for name, uri in links]
    return CallToolResult(
        content=blocks, structured_content=body, _meta=_sendable(meta) if meta else None
    )


def _sendable(meta: Mapping[str, JsonValue]) -> dict[str, Any]:
    return json.loads(sendable(json.dumps(meta, ensure_ascii=False)))


def _plain(body: dict[str, JsonValue]) -> dict[str, JsonValue]:
    kept = {
        key: value
        for key, value in body.items()
        if value is not None or key not in _ALWAYS_LEFT_OUT
    }
    if isinstance(fetch := kept.get("fetch_needed"), dict):
        kept["fetch_needed"] = _plain(fetch)
    return {"type": kept.pop("type"), **kept} if "type" in kept else kept


def in_words(error: ForgeError) -> str:
    """Return an error as a model reads it: code, message, each detail with its place on a line of
    its own, the way out.
    """
    lines = (
        f"{error.code}: {error.message}",
        *(f"- {detail}" for detail in error.details),
        advice_for_client(error),
    )
    return sendable("\n".join(lines))


def in_one_line(error: ForgeError, most: int = 3) -> str:
    """Return code, message and the first details of an error, for a list."""
    more = (f"and {len(error.details) - most} more",) if len(error.details) > most else ()
    return sendable(
        " ".join((f"{error.code}:", error.message, "; ".join((*error.details[:most], *more))))
    ).strip()


def refused(
    error: ForgeError,
    tool: str,
    *,
    node: str = "",
    reads: Sequence[str] = (),
    ui: Mapping[str, JsonValue] | None = None,
    debug: bool = False,
) -> CallToolResult:
    """Return the result for a refusal: the problem, its place, and the hint."""
    body: dict[str, JsonValue] = {
        "code": error.code,
        "domain": error.domain,
        "message": error.message,
        "node_id": node,
        "dependency_ids": list(reads),
        "source_tool": tool,
        "check_class": type(error).__name__,
        "context": (
            {"details": list(error.details), "hint": advice_for_client(error)} if debug else {}
        ),
    }
    meta: dict[str, JsonValue] = {"error": body, **({"ui": dict(ui)} if ui else {})}
    if isinstance(error, ArtifactUnfit):
        meta["hints"] = {"next": "revision_required"}
    return CallToolResult(
        is_error=True,
        content=[TextContent(type="text", text=in_words(error))],
        _meta=_sendable(meta),
    )


def broken(error: BaseException, tool: str, *, debug: bool = False) -> CallToolResult:
    """Return the result for an unexpected error, without its message and traceback, which may
    contain anything.
    """
    text = UNEXPECTED.format(tool=tool)
    context: dict[str, JsonValue] = {"exception": type(error).__name__} if debug else {}
    body: dict[str, JsonValue] = {
        "code": ForgeError.code,
        "domain": "ERR",
        "message": text,
        "node_id": "",
        "dependency_ids": [],
        "source_tool": tool,
        "check_class": type(error).__name__ if debug else "",
        "context": context,
    }
    return CallToolResult(
        is_error=True,
        content=[TextContent(type="text", text=f"{ForgeError.code}: {text}")],
        _meta={"error": body},
    )


class AtNode(Exception):
    """The place of an error in a run: the outstanding phase or artifact, and its inputs. The
    question to a person is included if they have to decide.

    The error is the cause of this one.
    """

    def __init__(
        self, node: str, reads: Sequence[str] = (), ui: Mapping[str, JsonValue] | None = None
    ) -> None:
        super().__init__(node)
        self.ui = dict(ui or {})
        self.node = node
        self.reads = tuple(reads)
