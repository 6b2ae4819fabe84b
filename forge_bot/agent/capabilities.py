"""The request for a capability and its result, the same types for every capability."""

import hashlib
import json
from enum import StrEnum
from typing import cast

from pydantic import Field

from forge_bot.values import Frozen, Usage

READ_FILE = "read_file"
_LEAST_KNOWN = 8
"""Lines of a file that are left out where a message before has them."""


class CapabilityType(StrEnum):
    """The kind of a capability."""

    PROVIDER = "provider"
    MCP_TOOL = "mcp_tool"
    SKILL = "skill"


class ResultStatus(StrEnum):
    """The status of a result."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    TIMEOUT = "timeout"
    INVALID_PARAMS = "invalid_params"
    UNKNOWN_CAPABILITY = "unknown_capability"
    DENIED = "denied"
    SKIPPED_DUPLICATE = "skipped_duplicate"
    STANDS = "stands"
    """It may change something: it is done outside of the conversation, if at all."""


class Effect(StrEnum):
    """The effect of a request besides its result."""

    READS = "reads"
    """Nothing: within one conversation the same request is fulfilled once."""
    RUNS = "runs"
    """It runs commands: each request counts, and it is journalled before it begins."""
    ACTS = "acts"
    """It may change something outside: never within a conversation, and at most once in a run."""


class CapabilityRequest(Frozen):
    """One request of the model, with the key of its result.

    `params` is canonical JSON, so two spellings of the same request are equal. It is the model's
    own text if that is no JSON object.
    """

    key: str
    capability: str
    params: str
    reasoning: str = ""


class CapabilityResult(Frozen):
    """The result of one request. `note` is for its heading: line ranges, and what was left out."""

    key: str
    capability: str
    params: str
    status: ResultStatus
    content: str
    truncated: bool = False
    note: str = ""
    usage: Usage = Field(default=Usage(), description="of models that were asked for it")
    seconds: float = 0.0


def without_known_lines(item: CapabilityResult, known: str) -> CapabilityResult:
    """Return a part of a file without the longer runs of lines that `known` has, the messages
    before: a mark with their numbers stands for each.
    """
    if item.capability != READ_FILE or item.status is not ResultStatus.OK:
        return item
    first = int(json.loads(item.params).get("start") or 1)
    lines, shown, at = item.content.split("\n"), list[str](), 0

    def stands(end: int) -> bool:
        return "\n".join(("", *lines[at:end], "")) in known

    while at < len(lines):
        end = at + _LEAST_KNOWN
        if end > len(lines) or not stands(end):
            shown.append(lines[at])
            at += 1
            continue
        while end < len(lines) and stands(end + 1):
            end += 1
        shown.append(f"[… lines {first + at}-{first + end - 1} stand above …]")
        at = end
    return item.replace(content="\n".join(shown))


def canonical(params_json: str) -> str | None:
    """Return the parameters in one spelling, without nulls; None if the text is no JSON object."""
    try:
        value: object = json.loads(params_json or "{}", strict=False)
        # JSON can contain lone surrogates, which are no valid text.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    given = {
        name: item for name, item in cast("dict[str, object]", value).items() if item is not None
    }
    return json.dumps(given, sort_keys=True, ensure_ascii=False, separators=(", ", ": "))


def effect_key(turn: int, index: int, capability: str, params: str) -> str:
    """Return `<turn>.<index>-<hash>`.

    The same request at the same place has the same key in every process.
    """
    digest = hashlib.sha256(f"{capability}\n{params}".encode("utf-8", "replace")).hexdigest()[:10]
    return f"{turn}.{index}-{digest}"
