"""Lines from a client that are no messages: repaired where that is possible, else answered with an
error.
"""

import json
import re
from typing import cast

from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import BaseModel, StrictInt, StrictStr, TypeAdapter, ValidationError

from forge_bot.mcp_server.tool_results import sendable

_NOTHING = re.compile(r"\s*")


def mended(error: Exception) -> SessionMessage | None:
    """The message that a line was meant to be: JSON may spell halves of characters, which no text
    can hold. None if it is none.
    """
    line = _line(error)
    try:
        value = json.loads(line)
        return SessionMessage(
            jsonrpc_message_adapter.validate_json(
                sendable(json.dumps(value, ensure_ascii=False)), by_name=False
            )
        )
    except (ValueError, RecursionError):
        return None


def answer_to(error: Exception) -> SessionMessage | None:
    """Return the error for a client's line that is no message (JSON-RPC 2.0, section 5.1); None for
    a line without a word.
    """
    line = _line(error)
    if _NOTHING.fullmatch(line):
        return None
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(PARSE_ERROR, "This line is not JSON that can be read.", None)
    return _refusal(INVALID_REQUEST, "This line is no message of JSON-RPC 2.0.", _id(line))


def _refusal(code: int, words: str, id_: str | int | None) -> SessionMessage:
    told = ErrorData(code=code, message=f"{words} One message a line, in UTF-8.")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id_, error=told))


def _id(line: str) -> str | int | None:
    try:
        return _NAMED.validate_json(line).id
    except ValidationError:
        return None


class _Named(BaseModel):
    id: StrictStr | StrictInt | None = None


_NAMED = TypeAdapter(_Named)


def _line(error: Exception) -> str:
    """The line that the SDK could not read."""
    if not isinstance(error, ValidationError):
        return "?"
    given: list[object] = [
        each["input"] for each in error.errors(include_url=False, include_context=False)
    ]
    # What is not JSON comes as it is; a message that fits no form comes as a value, its parts
    # beside the whole.
    whole = next((cast("object", value) for value in given if isinstance(value, dict)), given[0])
    return whole if isinstance(whole, str) else json.dumps(whole, default=str)
