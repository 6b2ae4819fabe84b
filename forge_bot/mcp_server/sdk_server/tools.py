"""The tools: names, arguments and descriptions, as a model reads them; and the round in which the
client's person is asked.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp.types import CallToolResult, InputRequiredResult, ListRootsResult, ToolAnnotations
from pydantic import AfterValidator, Field, JsonValue, WithJsonSchema

from forge_bot.gate.grammar import ANSWERS, RUN_COMMANDS
from forge_bot.mcp_server.sdk_server.client_sessions import (
    ProgressNotifier,
    announce,
    ask_person,
    can_ask,
    client_name,
    make_gate_form,
)
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.tool_results import artifact_address, make_result, state_address

if TYPE_CHECKING:
    from forge_bot.mcp_server.client_runs.client_actions import ClientAction

Object = dict[str, Any]
"""Any object. A narrower type would stand in the schema as a definition that says nothing, which
costs tokens and confuses hosts."""

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_OPERATIONS = sorted({*RUN_COMMANDS} - {*ANSWERS, "continue"} | {"abandon"})
"""What a client may give to a run outside of a question. More money is a person's to allow."""


def _known_operation(name: str) -> str:
    if name not in _OPERATIONS:
        raise ValueError(f"there are {', '.join(_OPERATIONS)}")
    return name


_Operation = Annotated[
    str, AfterValidator(_known_operation), WithJsonSchema({"type": "string", "enum": _OPERATIONS})
]

WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def add_tools(server: ForgeServer) -> None:
    """Add all of them."""
    for add in (_add_task, _add_begin, _add_loop, _add_report, _add_project, _add_runs):
        add(server)


def _add_task(server: ForgeServer) -> None:

    # The request for roots has the form that both eras of the protocol understand
    # (https://modelcontextprotocol.io/specification, roots).
    async def open_folders(ctx: Context[Any, Any]) -> ListRootsResult | ListRoots:
        able = ctx.client_capabilities
        if able is None or able.roots is None:
            return ListRootsResult(roots=[])
        undecided = await server.ask(lambda service: service.served.undecided)
        return ListRoots() if undecided else ListRootsResult(roots=[])

    @server.tool(annotations=READS, structured_output=False)
    async def pipeline_init(
        arguments: str,
        opened: Annotated[ListRootsResult, Resolve(open_folders)],
        current_branch: str = "",
    ) -> CallToolResult:
        """Read a task: words, an issue URL, or .specs/RUN to resume; flags --auto --nopr --debug
        --discuss --effort=S|M|L --budget=5 --pipeline=NAME.
        """
        paths = list_folders(opened)
        answer = await server.ask(lambda service: service.init(arguments, current_branch, paths))
        if "resume_mode" not in answer:
            return make_result(answer)
        links: list[JsonValue] = [state_address(str(answer["workspace"]))]
        return make_result(answer, meta={"resource_links": links})


def _add_begin(server: ForgeServer) -> None:
    @server.tool(annotations=WRITES, structured_output=False)
    async def pipeline_init_with_context(
        ctx: Context[Any, Any],
        workspace: str,
        source_id: str = "",
        source_url: str = "",
        external_context: Annotated[
            Object | None, Field(description="title, body, labels, type, points")
        ] = None,
        flags: Object | None = None,
        task_text: str = "",
        user_confirmation: Annotated[
            Object | None,
            Field(description="effort, workspace_slug, use_current_branch, enriched_request_body"),
        ] = None,
        discussion_answers: str = "",
    ) -> CallToolResult:
        """Detect the effort from what pipeline_init returned; then, with the person's
        user_confirmation, begin the run.
        """
        given: dict[str, Any] = {
            "workspace": workspace,
            "source_id": source_id,
            "source_url": source_url,
            "external_context": external_context,
            "flags": flags,
            "task_text": task_text,
            "user_confirmation": user_confirmation,
            "discussion_answers": discussion_answers,
        }
        present = {name: value for name, value in given.items() if value is not None}
        return await _begin(server, ctx, present)


async def _begin(
    server: ForgeServer, ctx: Context[Any, Any], given: dict[str, Any]
) -> CallToolResult:
    """Ask for the person's choice, or begin the run that they chose."""
    answer = await server.ask(lambda service: service.init_with_context(given))
    if "ready" not in answer.body:
        return make_result(answer.body, meta=answer.meta)
    begun = str(answer.body["workspace"])
    await announce(server.listeners, ctx, begun, fresh=True)
    links = [state_address(begun)]
    return make_result(answer.body, meta={**answer.meta, "resource_links": [*links]}, links=links)


def _add_loop(server: ForgeServer) -> None:
    @server.tool(annotations=WRITES, structured_output=False)
    async def pipeline_next_action(
        ctx: Context[Any, Any],
        workspace: str,
        previous_action_complete: bool = False,
        previous_tokens: float = 0,
        previous_duration_ms: float = 0,
        previous_model: str = "",
        previous_setup_only: bool = False,
        previous_error: str = "",
        previous_output: str = "",
        action_id: str = "",
        user_response: str = "",
        digest: str = "",
    ) -> CallToolResult | InputRequiredResult:
        """Report the action you did (with its action_id) or a person's answer, and get the next
        one. May take minutes.
        """
        given = {
            "complete": previous_action_complete,
            "tokens": previous_tokens,
            "duration_ms": previous_duration_ms,
            "model": previous_model,
            "setup_only": previous_setup_only,
            "error": previous_error,
            "output": previous_output,
            "action_id": action_id,
            "user_response": user_response,
            "digest": digest,
        }
        return await get_next_or_ask(server, ctx, workspace, given)


def _add_report(server: ForgeServer) -> None:
    # For hosts that report and ask in two calls.
    @server.tool(annotations=WRITES, structured_output=False)
    async def pipeline_report_result(
        ctx: Context[Any, Any],
        workspace: str,
        phase: str,
        tokens_used: float = 0,
        duration_ms: float = 0,
        model: str = "",
        setup_only: bool = False,
        action_id: str = "",
    ) -> CallToolResult:
        """Record a phase's result without asking for the next action."""
        given = {
            "complete": True,
            "tokens": tokens_used,
            "duration_ms": duration_ms,
            "model": model,
            "setup_only": setup_only,
            "action_id": action_id,
        }
        report = await server.ask(lambda service: service.report_result(workspace, phase, given))
        await announce(server.listeners, ctx, workspace)
        meta: dict[str, JsonValue] = {
            "annotations": {"findings": len(report.findings)},
            "resource_links": [state_address(workspace)],
        }
        written = report.artifact_written
        links = [artifact_address(workspace, written)] if written else []
        return make_result(report, meta=meta, links=links)


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
    reply, notes = answer.answer, answer.notes
    following = await server.ask(
        lambda service: service.answer_gate(workspace, action, reply, notes, tell)
    )
    await announce(server.listeners, ctx, workspace)
    return _make_result(following)


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


def list_folders(roots: ListRootsResult) -> tuple[Path, ...]:
    """Return the paths of a client's roots, in its order, without those that are no folder of this
    machine.
    """
    addresses = (urlsplit(str(root.uri)) for root in roots.roots)
    return tuple(
        Path(url2pathname(address.path))
        for address in addresses
        if address.scheme == "file" and address.netloc in {"", "localhost"}
    )


_ENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)


def _add_project(server: ForgeServer) -> None:
    @server.tool(annotations=READS, structured_output=False)
    async def forge_orient(
        response_tier: Literal["", "L0", "L1"] = "",
    ) -> CallToolResult:
        """Status in a few words; context_link has the rest."""
        policy = server.policies.current
        tier = response_tier or policy.response_tier
        status = await server.ask(lambda service: service.queries.orient(tier))
        pipeline = await server.ask(lambda service: service.served.config.pipeline)
        name = "audit" if policy.only_looks else pipeline
        meta: dict[str, JsonValue] = {
            "hints": {"next": status["next"], "suggested_workflow": f"forge://pipeline/{name}"},
            "resource_links": [status["context_link"]],
        }
        return make_result(status, meta=meta)

    @server.tool(annotations=READS, structured_output=False)
    async def forge_graph(
        operation: Literal["query", "verify", "scan"],
        name: str = "",
        tier: str = "",
        kind: str = "",
        domain: str = "",
        of: str = "",
        touches: Sequence[str] = (),
    ) -> CallToolResult:
        """The project's files as a graph: nodes by name, tier, kind or domain; neighbours `of` a
        node; what a change `touches`; what breaks rules.
        """
        narrowed = {"name": name, "tier": tier, "kind": kind, "domain": domain}
        asked = {**narrowed, "of": of, "touches": touches}
        asked = {key: value for key, value in asked.items() if value}
        result = await server.ask(lambda service: service.queries.graph(operation, asked))
        meta: dict[str, JsonValue] = {"resource_links": [*result.links]}
        if operation in {"verify", "scan"}:
            meta["annotations"] = {"findings": result.total}
        return make_result({"text": result.text, "count": result.total}, meta=meta)


def _add_runs(server: ForgeServer) -> None:
    @server.tool(annotations=READS, structured_output=False)
    async def state_resume_info(workspace: str) -> CallToolResult:
        """The position of a run, and the way to go on with it."""
        info = await server.ask(lambda service: service.queries.resume_info(workspace))
        link = state_address(str(info["workspace"]))
        meta: dict[str, JsonValue] = {
            "hints": {"next": info["instruction"]},
            "resource_links": [link],
        }
        return make_result(info, links=[link], meta=meta)

    @server.tool(annotations=READS, structured_output=False)
    async def run_list(ended: bool = False) -> CallToolResult:
        """The runs under way, newest first; with ended, all."""
        runs = await server.ask(lambda service: service.queries.run_list(ended=ended))
        links = [state_address(str(run["workspace"])) for run in runs]
        return make_result({"runs": [*runs]}, meta={"resource_links": [*links]})

    @server.tool(annotations=_ENDS, structured_output=False)
    async def run_control(
        ctx: Context[Any, Any],
        workspace: str,
        operation: _Operation,
        phase: str = "",
        notes: str = "",
    ) -> CallToolResult:
        """Give a run what the person wants: end it, send it back to a phase, merge its base branch
        into one that is done, set its effort (S, M or L as notes).
        """
        client = client_name(ctx)
        result = await server.ask(
            lambda service: service.control(workspace, operation, phase, notes, client)
        )
        await announce(server.listeners, ctx, workspace)
        meta: dict[str, JsonValue] = {
            "hints": {"next": result["instruction"]},
            "resource_links": [state_address(workspace)],
        }
        return make_result(result, meta=meta)
