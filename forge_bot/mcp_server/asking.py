"""`pipeline_next_action` over the protocol: where the client can ask its person, a gate is put to them, and only that answer counts."""

from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import JsonValue

from forge_bot.mcp_server.calling import LazyDesk, client_name, in_thread
from forge_bot.mcp_server.changes import Listeners, announce
from forge_bot.mcp_server.eliciting import Given, Put, Silent, ask, brought, can_ask
from forge_bot.mcp_server.telling import answered
from forge_bot.mcp_server.voice import Voice

if TYPE_CHECKING:
    from forge_bot.mcp_server.acting import Next

_LONGEST_FORM = 4_000
"""Characters of a question in a form; the documents lie in the work tree."""

_NOBODY = "Nobody has answered yet ({why}). The run waits; call again to ask again, or answer at a terminal: forge-bot approve."


async def next_or_question(
    ctx: Context[Any, Any], desk: LazyDesk, listeners: Listeners, workspace: str, said: dict[str, Any]
) -> CallToolResult | InputRequiredResult:
    """The next action; or, where the protocol wants it so, the question as a round of its own."""
    voice, asks = Voice(ctx), can_ask(ctx)
    answer = brought(ctx) if asks else None
    standing = desk.asked_again(workspace, said) if answer is None else None
    if isinstance(answer, Given):
        found = await in_thread(partial(_went_on, desk, workspace, answer, voice))
    elif standing is not None:
        found = standing
    else:
        found = await in_thread(lambda: desk().next_action(workspace, said, client_name(ctx), voice, asks_itself=asks))
    if found.news:
        await announce(ctx, listeners, workspace)
    while asks and found.question is not None and not isinstance(answer, Silent):
        told = await ask(ctx, _put(found))
        if isinstance(told, InputRequiredResult):
            return told
        answer = told
        if isinstance(told, Given):
            found = await in_thread(partial(_went_on, desk, workspace, told, voice))
            await announce(ctx, listeners, workspace)
    return _result(found, answer.why if isinstance(answer, Silent) else "")


def _went_on(desk: LazyDesk, workspace: str, told: Given, voice: Voice) -> "Next":
    return desk().person_said(workspace, *told, voice)


def _put(found: "Next") -> Put:
    body = found.action.model_dump()
    options = tuple(dict.fromkeys((*body["options"], "abandon")))
    text: str = body["present_to_user"]
    if len(text) > _LONGEST_FORM:
        text = f"{text[:_LONGEST_FORM]}\n\n[… the documents go on in the work tree]"
    return Put(found.action.action_id, str(body.get("digest", "")), text, options)


def _result(found: "Next", silence: str) -> CallToolResult:
    action = found.action
    if silence and found.question is not None:
        warning = "; ".join(filter(None, (action.warning, _NOBODY.format(why=silence))))
        action = action.model_copy(update={"warning": warning})
    meta: dict[str, JsonValue] = {"hints": {"next": found.hint}, "resource_links": list(found.links)}
    if found.question is not None:
        meta["ui"] = found.component
    if action.report_result is not None:
        meta["annotations"] = {"findings": len(action.report_result.findings)}
    return answered(action, meta=meta, links=found.named)
