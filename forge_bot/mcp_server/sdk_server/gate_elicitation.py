"""`pipeline_next_action` and `run_control` over the protocol: a client that can ask its person is
sent the question, and only the person's answer counts.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import JsonValue

from forge_bot.mcp_server.sdk_server.client_notifications import (
    Listeners,
    ProgressNotifier,
    announce,
)
from forge_bot.mcp_server.sdk_server.elicit import (
    ElicitedAnswer,
    ElicitedQuestion,
    NoAnswer,
    RejectWithoutNotes,
    ask,
    brought,
    can_ask,
)
from forge_bot.mcp_server.service_calls import LazyService, client_name, in_thread
from forge_bot.mcp_server.tool_results import AtNode, answered
from forge_bot.sentences import say

if TYPE_CHECKING:
    from forge_bot.mcp_server.client_runs.client_actions import ClientAction
    from forge_bot.mcp_server.run_management import Operation, PastQuestion
    from forge_bot.mcp_server.side_tool_results import Controlled
    from forge_bot.mcp_server.tool_schemas import ReportResult

_MOST_KEPT = 60_000
"""Characters of a report's result that go along with a question; a call comes back with them, and
takes 4 MiB at the most."""


async def next_or_question(
    ctx: Context[Any, Any],
    service: LazyService,
    listeners: Listeners,
    workspace: str,
    said: dict[str, Any],
) -> CallToolResult | InputRequiredResult:
    """Return the next action, or the question as a separate round if the protocol needs one."""
    voice, asks = ProgressNotifier(ctx), can_ask(ctx)
    earlier = brought(ctx) if asks else None
    answer = earlier.answer if earlier is not None else None
    if isinstance(answer, ElicitedAnswer):
        found = await in_thread(partial(_went_on, service, workspace, answer, voice))
    else:
        # The arguments come again with each round of a call; what they report was recorded in the
        # first.
        found = await _asked_for(ctx, service, workspace, said if earlier is None else {}, voice)
    result = found.action.report_result
    if earlier is not None and earlier.kept:
        result = _read(earlier.kept)
    if found.news:
        await announce(ctx, listeners, workspace)
    while asks and found.question is not None and not isinstance(answer, NoAnswer):
        told = await ask(
            ctx, _put(found, answer.times if isinstance(answer, RejectWithoutNotes) else 1, result)
        )
        if isinstance(told, InputRequiredResult):
            return told
        answer = told
        if isinstance(told, ElicitedAnswer):
            found = await in_thread(partial(_went_on, service, workspace, told, voice))
            await announce(ctx, listeners, workspace)
    return _result(found, result, answer.why if isinstance(answer, NoAnswer) else "")


async def controlled(
    ctx: Context[Any, Any],
    service: LazyService,
    workspace: str,
    operation: "Operation",
    phase: str,
    notes: str,
) -> "Controlled | InputRequiredResult":
    """End a run, or send it back. While a question is open only the client's person may do so.
    Raises PersonDecides.
    """
    from forge_bot.mcp_server.run_management import (
        PastQuestion,
        Wanted,
    )  # the engine stands behind it

    wanted = Wanted(operation, phase, notes.replace("\0", ""))

    async def done(confirmed: str) -> "Controlled | PastQuestion":
        return await in_thread(
            lambda: service().managing.control(workspace, wanted, client_name(ctx), confirmed)
        )

    asks = can_ask(ctx)
    earlier = brought(ctx) if asks else None
    answer = earlier.answer if earlier is not None else None
    found = await done(
        answer.action_id
        if isinstance(answer, ElicitedAnswer) and answer.answer == operation
        else ""
    )
    if not isinstance(found, PastQuestion):
        return found
    if asks and answer is None:
        told = await ask(
            ctx, ElicitedQuestion(found.action_id, found.digest, found.message, found.options)
        )
        if isinstance(told, InputRequiredResult):
            return told
        if isinstance(told, ElicitedAnswer):
            found = await done(told.action_id)
    if isinstance(found, PastQuestion):
        raise AtNode("", ui=found.component) from found.refusal
    return found


async def _asked_for(
    ctx: Context[Any, Any],
    service: LazyService,
    workspace: str,
    said: dict[str, Any],
    voice: ProgressNotifier,
) -> "ClientAction":
    standing = service.asked_again(workspace, said)
    if standing is not None:
        return standing
    return await in_thread(
        lambda: service().next_action(
            workspace, said, client_name(ctx), voice, asks_itself=can_ask(ctx)
        )
    )


def _went_on(
    service: LazyService, workspace: str, told: ElicitedAnswer, voice: ProgressNotifier
) -> "ClientAction":
    return service().person_said(workspace, *told[:4], voice, cut=told.cut)


def _put(found: "ClientAction", times: int, result: "ReportResult | None") -> ElicitedQuestion:
    body = found.action.model_dump()
    options = tuple(dict.fromkeys((*body["options"], "abandon")))
    kept = _kept(result) if result is not None else ""
    return ElicitedQuestion(
        found.action.action_id,
        str(body.get("digest", "")),
        body["present_to_user"],
        options,
        bool(found.cut),
        times,
        kept,
    )


def _kept(result: "ReportResult") -> str:
    """The result as JSON, with as many of its findings as have room."""
    most = len(result.findings)
    while len(text := _shortened(result, most).model_dump_json()) > _MOST_KEPT and most:
        most //= 2
    return text


def _read(kept: str) -> "ReportResult":
    from forge_bot.mcp_server.tool_schemas import (
        ReportResult,
    )  # the engine stands behind it, which a list of tools does not wait for

    return ReportResult.model_validate_json(kept)


def _shortened(result: "ReportResult", most: int) -> "ReportResult":
    left = len(result.findings) - most
    if not left:
        return result
    warning = "; ".join(
        filter(None, (result.warning, say("client.gate_elicitation.more_findings", count=left)))
    )
    return result.replace(findings=result.findings[:most], warning=warning)


def _result(found: "ClientAction", result: "ReportResult | None", silence: str) -> CallToolResult:
    action = found.action.replace(report_result=result)
    if silence and found.question is not None:
        warning = "; ".join(
            filter(
                None,
                (action.warning, say("client.gate_elicitation.nobody_has_answered", why=silence)),
            )
        )
        action = action.replace(warning=warning)
    meta: dict[str, JsonValue] = {
        "hints": {"next": found.hint},
        "resource_links": list(found.links),
    }
    if found.question is not None:
        meta["ui"] = found.component
    if action.report_result is not None:
        meta["annotations"] = {"findings": len(action.report_result.findings)}
    return answered(action, meta=meta, links=found.named)
