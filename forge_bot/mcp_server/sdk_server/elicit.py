"""Ask the client's person by the SDK's forms, in both versions of the protocol.

Only `accept` with one of the offered answers is an answer.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from mcp import MCPError
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import build_resolver_plans, resolve_arguments
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import BaseModel, Field, JsonValue, WithJsonSchema, create_model

from forge_bot.mcp_server.sdk_server.client_sessions import (
    ProgressNotifier,
    announce,
    client_name,
)
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.tool_results import make_result, state_address

if TYPE_CHECKING:
    from forge_bot.mcp_server.client_runs.client_actions import ClientAction


Form = TypeVar("Form", bound=BaseModel)

_NOTES = (
    "With answer, your answer; with reject, what should be different; with approve, choices such as"
    " 2a or a condition"
)
_LONGEST_NOTES = 20_000


class GateForm(BaseModel):
    """The answer to a question; the offered ones differ."""

    answer: str
    notes: Annotated[str, Field(description=_NOTES, max_length=_LONGEST_NOTES)] = ""

    @property
    def lacks_words(self) -> bool:
        """Return whether the answer says nothing without notes, and has none."""
        return self.answer in {"reject", "answer"} and not self.notes.strip()


def make_gate_form(options: tuple[str, ...]) -> type[GateForm]:
    """Return the form for a question with these answers."""
    # One value alone would be written as a constant, which forms do not know.
    schema = WithJsonSchema({"type": "string", "enum": [*options]})
    chosen: Any = Annotated[Literal[options], schema]
    return create_model("Answer", __base__=GateForm, answer=(chosen, ...))


def can_ask(ctx: Context[Any, Any]) -> bool:
    """Return whether the client declared that it can ask its person with a form."""
    able = ctx.client_capabilities
    if able is None or able.elicitation is None:
        return False
    # A client of the first revision declares the capability without naming modes, and means forms.
    return able.elicitation.form is not None or able.elicitation.url is None


async def ask_person(
    ctx: Context[Any, Any], message: str, form: type[Form]
) -> Form | InputRequiredResult | str:
    """Ask with a form. Return what was filled in, or why there is no answer. An InputRequiredResult
    is to be returned from the tool unchanged: the answer comes with the same call again.
    """

    async def question() -> Elicit[Form]:
        return Elicit(message, form)

    parameters = {"answer": (Resolve(question), True)}
    plans = build_resolver_plans(parameters, set())
    try:
        outcome = await resolve_arguments(parameters, plans, {}, ctx)
    except (MCPError, ToolError) as error:
        return f"the client could not ask: {str(error)[:200]}"
    if isinstance(outcome, InputRequiredResult):
        return outcome
    answer = outcome["answer"]
    if isinstance(answer, AcceptedElicitation):
        return cast("AcceptedElicitation[Form]", answer).data
    return f"the question was answered with {answer.action}, which is neither a yes nor a no"


_NOBODY = (
    "Nobody has answered yet ({why}). The run waits: call pipeline_next_action again to ask again."
    " A terminal takes the answer too: forge-bot approve."
)


async def get_next_or_ask(
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
        return _make_result(action)
    form = make_gate_form(action.options)
    answer = await ask_person(ctx, str(action.body["present_to_user"]), form)
    if isinstance(answer, InputRequiredResult):
        return answer
    if not isinstance(answer, str) and answer.lacks_words:
        answer = f"{answer.answer} needs notes: what should be different, or your answer"
    if isinstance(answer, str):
        return _make_result(action, _NOBODY.format(why=answer))
    following = await _pass_on_answer(server, workspace, action, answer.answer, answer.notes, tell)
    await announce(server.listeners, ctx, workspace)
    return _make_result(following)


async def _pass_on_answer(
    server: ForgeServer,
    workspace: str,
    asked: "ClientAction",
    answer: str,
    notes: str,
    tell: ProgressNotifier,
) -> "ClientAction":
    from forge_bot.engine.reports import Answer
    from forge_bot.runs.run_commands import PersonAnswer

    reply = PersonAnswer(answer=Answer(answer), notes=notes.replace("\0", ""))
    return await server.ask(lambda service: service.answer_gate(workspace, asked, reply, tell))


def _make_result(action: "ClientAction", warning: str = "") -> CallToolResult:
    report = action.report
    if warning:
        action = action.with_report(report, [action.warning, warning])
    meta: dict[str, JsonValue] = {
        "hints": {"next": action.hint},
        "resource_links": [state_address(action.run)],
    }
    if action.question is not None:
        meta["ui"] = action.component
    if report is not None:
        meta["annotations"] = {"findings": len(report.findings)}
    return make_result(action.body, meta=meta, links=action.documents)
