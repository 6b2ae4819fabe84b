"""A question asked through the client, in both eras of the protocol: pushed where there is a way back, else as a round of its own.

Only `accept` with one of the offered answers is an answer. https://modelcontextprotocol.io/specification (elicitation, form mode)
"""

import json
from typing import Any, NamedTuple

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

_KEY = "forge_gate"
_LONGEST_NOTES = 20_000


class Put(NamedTuple):
    """A question ready to be put: what it is about, and which answers it takes."""

    action_id: str
    digest: str
    message: str
    options: tuple[str, ...]


class Given(NamedTuple):
    """What the client's person answered, to which question."""

    action_id: str
    digest: str
    answer: str
    notes: str


class Silent(NamedTuple):
    """Nobody answered; why."""

    why: str


def can_ask(ctx: Context[Any, Any]) -> bool:
    """Whether the client has said that it can ask its person with a form."""
    able = ctx.client_capabilities
    if able is None or able.elicitation is None:
        return False
    # A client of the first revision declares the capability without naming modes, and means forms.
    return able.elicitation.form is not None or able.elicitation.url is None


def brought(ctx: Context[Any, Any]) -> Given | Silent | None:
    """The answer that comes with this call, where the question was a round of its own; None if none does."""
    answer = (ctx.input_responses or {}).get(_KEY)
    if answer is None or ctx.request_state is None:
        return None
    state = json.loads(ctx.request_state)
    put = Put(str(state["action_id"]), str(state["digest"]), "", tuple(state["options"]))
    return _read(put, answer) if isinstance(answer, ElicitResult) else Silent("the client answered in another form")


async def ask(ctx: Context[Any, Any], put: Put) -> Given | Silent | InputRequiredResult:
    """Put the question. An InputRequiredResult is to be returned from the tool as it is; the answer comes with the next call."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        request = ElicitRequest(params=ElicitRequestFormParams(message=put.message, requested_schema=_schema(put)))
        state = json.dumps({"action_id": put.action_id, "digest": put.digest, "options": put.options})
        return InputRequiredResult(input_requests={_KEY: request}, request_state=state)
    try:
        answer = await ctx.session.elicit_form(put.message, _schema(put), ctx.request_id)
    except MCPError as error:
        return Silent(f"the client could not ask: {error.message[:200]}")
    return _read(put, answer)


def _schema(put: Put) -> dict[str, Any]:
    answer = {"type": "string", "title": "Answer", "enum": list(put.options)}
    notes = {"type": "string", "title": "Notes", "description": "What should be different; needed for reject", "maxLength": _LONGEST_NOTES}
    return {"type": "object", "properties": {"answer": answer, "notes": notes}, "required": ["answer"]}


def _read(put: Put, result: ElicitResult) -> Given | Silent:
    if result.action != "accept":
        return Silent(f"the question was answered with {result.action}, which is neither a yes nor a no")
    content = result.content or {}
    answer, notes = content.get("answer"), content.get("notes", "")
    if not isinstance(answer, str) or answer not in put.options:
        return Silent("the form came back without one of the offered answers")
    return Given(put.action_id, put.digest, answer, notes if isinstance(notes, str) else "")
