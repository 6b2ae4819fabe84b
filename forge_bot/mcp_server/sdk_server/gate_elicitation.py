"""`pipeline_next_action` over the protocol: a client that can ask its person is sent the question,
and only the person's answer counts.
"""

from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import JsonValue

from forge_bot.mcp_server.sdk_server.client_notifications import (
    ProgressNotifier,
    announce,
    client_name,
)
from forge_bot.mcp_server.sdk_server.elicit import ask_person, can_ask, gate_form
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.tool_results import answered, state_address

if TYPE_CHECKING:
    from forge_bot.mcp_server.client_runs.client_actions import ClientAction

_NOBODY = (
    "Nobody has answered yet ({why}). The run waits: call pipeline_next_action again to ask again."
    " A terminal takes the answer too: forge-bot approve."
)


async def next_or_question(
    server: ForgeServer, ctx: Context[Any, Any], workspace: str, given: dict[str, Any]
) -> CallToolResult | InputRequiredResult:
    """Return the next action, or the question as a separate round if the protocol needs one."""
    tell, asks = ProgressNotifier(ctx), can_ask(ctx)
    action = await server.ask(
        lambda service: service.next_action(
            workspace, given, client_name(ctx), tell, asks_itself=asks
        )
    )
    await announce(server.listeners, ctx, workspace)
    if not asks or action.question is None:
        return _result(action)
    body = action.action.model_dump()
    form = gate_form(tuple(dict.fromkeys((*body["options"], "abandon"))))
    answer = await ask_person(ctx, body["present_to_user"], form)
    if isinstance(answer, InputRequiredResult):
        return answer
    if not isinstance(answer, str) and answer.answer == "reject" and not answer.notes.strip():
        answer = "a reject needs notes: what should be different"
    if isinstance(answer, str):
        return _result(action, _NOBODY.format(why=answer))
    following = await _answer(server, workspace, action, answer.answer, answer.notes, tell)
    await announce(server.listeners, ctx, workspace)
    return _result(following)


async def _answer(
    server: ForgeServer,
    workspace: str,
    asked: "ClientAction",
    answer: str,
    notes: str,
    tell: ProgressNotifier,
) -> "ClientAction":
    from forge_bot.engine.reports import Answer
    from forge_bot.runs.typed_answer import PersonAnswer

    reply = PersonAnswer(answer=Answer(answer), notes=notes.replace("\0", ""))
    return await server.ask(lambda service: service.answer_gate(workspace, asked, reply, tell))


def _result(action: "ClientAction", warning: str = "") -> CallToolResult:
    report = action.action.report_result
    if warning:
        action = action.with_report(report, [action.action.warning, warning])
    meta: dict[str, JsonValue] = {
        "hints": {"next": action.hint},
        "resource_links": [state_address(action.run)],
    }
    if action.question is not None:
        meta["ui"] = action.component
    if report is not None:
        meta["annotations"] = {"findings": len(report.findings)}
    return answered(action.action, meta=meta, links=action.documents)
