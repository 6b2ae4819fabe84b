"""Ask the client's person, in both versions of the protocol: in a request of ours where the client
can be reached, else as the result of the call.

Only `accept` with one of the offered answers is an answer.
https://modelcontextprotocol.io/specification (elicitation, form mode)
"""

import json
from typing import Any, NamedTuple

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from forge_bot.sentences import say

_KEY = "forge_gate"
_LONGEST_NOTES = 20_000

_MOST_TIMES = 3
"""How often a question is asked in one call, if it comes back without the required notes."""


class ElicitedQuestion(NamedTuple):
    """A question for a person: its subject, and the possible answers. `kept` is for the answer's
    round, as JSON.
    """

    action_id: str
    digest: str
    message: str
    options: tuple[str, ...]
    cut: bool = False
    times: int = 1
    kept: str = ""


class ElicitedAnswer(NamedTuple):
    """A person's answer through the client, and its question; `cut` if they were shown only the
    beginning of a document.
    """

    action_id: str
    digest: str
    answer: str
    notes: str
    cut: bool


class RejectWithoutNotes(NamedTuple):
    """A reject without notes: the question is asked again, for the attempt with this number."""

    times: int


class NoAnswer(NamedTuple):
    """The reason why there is no answer."""

    why: str


class PreviousRound(NamedTuple):
    """The data of the previous round, and the answer in this one; None without an answer."""

    kept: str
    answer: ElicitedAnswer | RejectWithoutNotes | NoAnswer | None


def can_ask(ctx: Context[Any, Any]) -> bool:
    """Return whether the client declared that it can ask its person with a form."""
    able = ctx.client_capabilities
    if able is None or able.elicitation is None:
        return False
    # A client of the first revision declares the capability without naming modes, and means forms.
    return able.elicitation.form is not None or able.elicitation.url is None


def brought(ctx: Context[Any, Any]) -> PreviousRound | None:
    """Return the data of a call whose question was a round of its own; None for any other call."""
    # The SDK seals the state, and binds it to the tool and its arguments: whatever opens was
    # written below.
    if ctx.request_state is None:
        return None
    state: dict[str, Any] = json.loads(ctx.request_state)
    put = ElicitedQuestion(
        action_id=state["action_id"],
        digest=state["digest"],
        message="",
        options=tuple(state["options"]),
        cut=state["cut"],
        times=state["times"],
        kept=state["kept"],
    )
    answer = (ctx.input_responses or {}).get(_KEY)
    if answer is None:
        return PreviousRound(put.kept, None)
    return PreviousRound(
        put.kept,
        (
            _read(put, answer)
            if isinstance(answer, ElicitResult)
            else NoAnswer(say("client.elicit.other_form"))
        ),
    )


async def ask(
    ctx: Context[Any, Any], put: ElicitedQuestion
) -> ElicitedAnswer | RejectWithoutNotes | NoAnswer | InputRequiredResult:
    """Ask the question. The caller returns an InputRequiredResult from the tool unchanged; the
    answer comes with the next call.
    """
    wanted = f"**{say('client.reject_needs_notes')}**\n\n" if put.times > 1 else ""
    message = f"{wanted}{put.message}"
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        request = ElicitRequest(
            params=ElicitRequestFormParams(message=message, requested_schema=_schema(put))
        )
        state = {name: value for name, value in put._asdict().items() if name != "message"}
        return InputRequiredResult(input_requests={_KEY: request}, request_state=json.dumps(state))
    try:
        answer = await ctx.session.elicit_form(message, _schema(put), ctx.request_id)
    except MCPError as error:
        return NoAnswer(say("client.elicit.client_could_not_ask", message=error.message[:200]))
    return _read(put, answer)


def _schema(put: ElicitedQuestion) -> dict[str, Any]:
    answer = {"type": "string", "title": say("client.answer"), "enum": list(put.options)}
    notes = {
        "type": "string",
        "title": say("client.notes"),
        "description": say("client.what_should_be_different"),
        "maxLength": _LONGEST_NOTES,
    }
    return {
        "type": "object",
        "properties": {"answer": answer, "notes": notes},
        "required": ["answer"],
    }


def _read(
    put: ElicitedQuestion, result: ElicitResult
) -> ElicitedAnswer | RejectWithoutNotes | NoAnswer:
    if result.action != "accept":
        return NoAnswer(say("client.elicit.neither_yes_nor_no", action=result.action))
    content = result.content or {}
    answer, told = content.get("answer"), content.get("notes", "")
    if not isinstance(answer, str) or answer not in put.options:
        return NoAnswer(say("client.elicit.none_of_the_answers"))
    notes = told.replace("\0", "") if isinstance(told, str) else ""
    if answer == "reject" and not notes.strip():
        return (
            RejectWithoutNotes(put.times + 1)
            if put.times < _MOST_TIMES
            else NoAnswer(say("client.elicit.rejected_without_notes"))
        )
    return ElicitedAnswer(put.action_id, put.digest, answer, notes, put.cut)


# -- before a run begins
# --------------------------------------------------------------------------------------------------

_CHOICE_KEY = "forge_effort"


async def chosen(
    ctx: Context[Any, Any], question: str, proposal: dict[str, Any]
) -> dict[str, Any] | InputRequiredResult | None:
    """Ask the client's person for effort, branch and short name.

    Return the user_confirmation of the answer; None without an answer, so that the model asks. An
    InputRequiredResult is to be returned from the tool unchanged.
    """
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        if ctx.request_state is None:
            request = ElicitRequest(
                params=ElicitRequestFormParams(
                    message=question, requested_schema=_choice_schema(proposal)
                )
            )
            return InputRequiredResult(
                input_requests={_CHOICE_KEY: request}, request_state=json.dumps({_CHOICE_KEY: True})
            )
        answer = (ctx.input_responses or {}).get(_CHOICE_KEY)
        return _confirmation(answer, proposal) if isinstance(answer, ElicitResult) else None
    try:
        return _confirmation(
            await ctx.session.elicit_form(question, _choice_schema(proposal), ctx.request_id),
            proposal,
        )
    except MCPError:
        return None


def _choice_schema(proposal: dict[str, Any]) -> dict[str, Any]:
    effort = {
        "type": "string",
        "title": say("client.elicit.effort"),
        "enum": [*proposal["effort_options"]],
        "default": proposal["detected_effort"],
    }
    new = say("client.elicit.new_branch")
    branches = [new] if proposal["is_main_branch"] else [new, say("client.elicit.current_branch")]
    branch = {
        "type": "string",
        "title": say("client.elicit.branch"),
        "enum": branches,
        "default": new,
    }
    name = {
        "type": "string",
        "title": say("client.elicit.short_name"),
        "description": say("client.elicit.short_name_of"),
        "maxLength": 60,
    }
    return {
        "type": "object",
        "properties": {"effort": effort, "branch": branch, "workspace_slug": name},
        "required": ["effort"],
    }


def _confirmation(result: ElicitResult, proposal: dict[str, Any]) -> dict[str, Any] | None:
    content = result.content or {}
    effort, name = content.get("effort"), content.get("workspace_slug")
    if result.action != "accept" or effort not in proposal["effort_options"]:
        return None
    return {
        "effort": effort,
        "use_current_branch": (
            content.get("branch") == say("client.elicit.current_branch")
            and not proposal["is_main_branch"]
        ),
        "workspace_slug": name.strip() if isinstance(name, str) else "",
        "enriched_request_body": proposal["enriched_request_body"],
    }
