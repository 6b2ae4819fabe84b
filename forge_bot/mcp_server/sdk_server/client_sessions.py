"""The sessions of clients, with what each is told and may do: changes of resources in both versions
of the protocol, the progress of a long call, the policy that a prompt declares; and how its person
is asked, by the SDK's forms: only `accept` with one of the offered answers is an answer.
"""

import contextlib
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import anyio
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import build_resolver_plans, resolve_arguments
from mcp.server.session import ServerSession
from mcp.types import (
    EmptyResult,
    InputRequiredResult,
    ListToolsResult,
    SubscribeRequestParams,
    Tool,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field, WithJsonSchema, create_model

from forge_bot.errors import SessionOnlyLooks
from forge_bot.mcp_server.tool_results import state_address
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from forge_bot.runs.notifications import Notice


class ProgressNotifier:
    """Tells a client, from a worker thread, what our own process is doing."""

    def __init__(self, ctx: Context[Any, Any]) -> None:
        self._ctx = ctx
        self._steps = count(1)

    def __call__(self, notice: "Notice") -> None:
        """Pass a notice on; a client that went away is no reason to stop."""
        if words := _progress_words(notice):
            with contextlib.suppress(Exception):
                anyio.from_thread.run(
                    self._ctx.report_progress, float(next(self._steps)), None, words
                )


class Listeners:
    """The subscriptions of a client of the older protocol, by address. One of the newer protocol
    has a stream of its own.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, ServerSession] = {}

    async def subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        """Serve resources/subscribe."""
        self._sessions[params.uri] = ctx.session
        return EmptyResult()

    async def unsubscribe(
        self, _ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Serve resources/unsubscribe."""
        self._sessions.pop(params.uri, None)
        return EmptyResult()

    async def tell(self, uri: str) -> None:
        """Notify the client that a resource has changed; one that went away is no trouble."""
        if (session := self._sessions.get(uri)) is not None:
            with contextlib.suppress(Exception):
                await session.send_resource_updated(uri)


async def announce(
    listeners: Listeners, ctx: Context[Any, Any], workspace: str, *, fresh: bool = False
) -> None:
    """Notify clients that a run has changed, or with `fresh` that there is a new one. A client that
    cannot be reached is no error.
    """
    uri = state_address(workspace)
    await listeners.tell(uri)
    await ctx.notify_resource_updated(uri)
    if fresh:
        await ctx.notify_resources_changed()
        with contextlib.suppress(Exception):
            await ctx.session.send_resource_list_changed()


def client_name(ctx: Context[Any, Any]) -> str:
    """Return the client's name for itself; it may say anything."""
    params = ctx.session.client_params
    name = params.client_info.name if params is not None else ""
    return "".join(sign for sign in name if sign.isprintable())[:60]


def _progress_words(notice: "Notice") -> str:
    # The engine stands behind these: by now it is here, and a server that starts has no need of it.
    from forge_bot.runs.notifications import CommandBegan, log_line

    if isinstance(notice, CommandBegan):
        return f"{notice.name.value}: {' '.join(notice.argv)}"
    line = log_line(notice)
    return line.text if line is not None else ""


_LISTING = "tools/list"


class SessionPolicy(Frozen):
    """The values of one session."""

    response_tier: Literal["L0", "L1"] = "L0"
    policy_mode: Literal["enforced", "read-only"] = "enforced"
    dry_run: bool = False
    debug: bool = False

    @property
    def only_looks(self) -> bool:
        """Return whether tools that change something are hidden and refused."""
        return self.dry_run or self.policy_mode == "read-only"

    @property
    def words(self) -> str:
        """The values as a contract says them."""
        values = self.model_dump(mode="json")
        pairs = (f"{name}={str(value).lower() if isinstance(value, bool) else value}"
                for name, value in values.items())  # fmt: skip
        return ", ".join(pairs)


class SessionPolicies:
    """The policy of a server's client. The list of tools passes through it as middleware."""

    def __init__(self, *, debug: bool = False) -> None:
        self.current = SessionPolicy(debug=debug)

    async def declare(self, ctx: Context[Any, Any], policy: SessionPolicy) -> None:
        """Store the policy, and notify the client that its tools have changed."""
        before, self.current = self.current, policy
        if before.only_looks != policy.only_looks:
            with contextlib.suppress(Exception):
                await ctx.session.send_tool_list_changed()

    def check(self, tool: Tool) -> None:
        """Raise SessionOnlyLooks for a tool that changes something in a session that only looks."""
        if self.current.only_looks and may_change(tool):
            raise SessionOnlyLooks(f"{tool.name} changes something, and this session only looks.")

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Remove hidden tools from a list of tools."""
        result = await call_next(ctx)
        if ctx.method != _LISTING or not isinstance(result, dict) or not self.current.only_looks:
            return result
        listed = ListToolsResult.model_validate(result).tools
        hidden = {tool.name for tool in listed if may_change(tool)}
        return {**result, "tools": [tool for tool in result["tools"] if tool["name"] not in hidden]}


def may_change(tool: Tool) -> bool:
    """Return whether a tool may change something."""
    return tool.annotations is None or not tool.annotations.read_only_hint


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
