"""The prompts. They define the limits of a session with forge-bot, not its steps."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import INVALID_PARAMS, EmbeddedResource, ResourceLink, TextResourceContents
from pydantic import ValidationError

from forge_bot.errors import ForgeError
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer, list_problems
from forge_bot.mcp_server.sdk_server.resource_handlers import MARKDOWN
from forge_bot.mcp_server.sdk_server.session_policy import SessionPolicy, may_change
from forge_bot.mcp_server.tool_results import describe_error, make_sendable

if TYPE_CHECKING:
    from forge_bot.mcp_server.service import Service

_ABOUT_START = (
    "The contract of a session in the project, with the project's context. dry_run=true hides what"
    " changes something."
)
_ABOUT_AUDIT = "The contract of a session that only looks at the project and its runs."
_CHANNELS = "Beside answers come in _meta: hints, resource_links, annotations, ui, error."
_NO_SESSION = (
    " This server has many clients and keeps none of it: give response_tier with each call."
)
_START = (
    "The project's context is loaded below; forge_orient has nothing to add to it. Where it did"
    " not arrive: forge://project/{root}/context.\nContract of this session: {contract}"
    " forge-bot decides what comes next, makes the commits and runs the"
    " project's commands; an approval is the person's word, and only the"
    f" person's.\n{_CHANNELS}\nThe pipeline is data: forge://pipeline/{{pipeline}}. What is asked"
    " of this session at any moment is the action that pipeline_next_action returns, complete in"
    " itself."
)
_AUDIT = (
    "Contract of this session: {contract} Nothing is begun, answered, sent back or ended."
    f"\n{_CHANNELS}\nWhat is audited is {{project}}. Its code: forge_graph scan and verify;"
    " forge://pipeline/audit has the steps, and keeps what is found after a person's yes. Its runs"
    " (run_list): whether each decision was a person's and for which version (state, decisions),"
    " whether reviews found what later failed, whether the verification rests on commands that"
    " ran.\nThe state of a run, with its log, is the record; its documents are claims. The phases"
    " and what each must contain: forge://pipeline/{pipeline}."
)


def add_prompts(server: ForgeServer) -> None:
    """The two prompts."""

    @server.prompt(name="forge/start", title="Work with forge-bot", description=_ABOUT_START)
    async def start(
        ctx: Context[Any, Any],
        project_path: str = "",
        response_tier: str = "",
        dry_run: str = "",
        debug: str = "",
    ) -> list[Message]:
        project, text, pipeline = await _read_project(server, project_path)
        wanted = {"response_tier": response_tier, "dry_run": dry_run, "debug": debug}
        contract = await _declare_policy(server, ctx, wanted)
        context = TextResourceContents(
            uri=f"forge://project/{project}/context", mime_type=MARKDOWN, text=text
        )
        # The words come first: there are clients, Gemini CLI among them, that take the first
        # message and only if it is text.
        return [
            UserMessage(_START.format(root=project, pipeline=pipeline, contract=contract)),
            UserMessage(EmbeddedResource(type="resource", resource=context)),
            _link_pipeline(pipeline),
        ]

    @server.prompt(
        name="forge/audit", title="Audit a project and its runs", description=_ABOUT_AUDIT
    )
    async def audit(ctx: Context[Any, Any], project_path: str = "") -> list[Message]:
        project, _, pipeline = await _read_project(server, project_path)
        wanted = {"response_tier": "L1", "policy_mode": "read-only"}
        contract = await _declare_policy(server, ctx, wanted)
        return [
            UserMessage(_AUDIT.format(project=project, pipeline=pipeline, contract=contract)),
            _link_pipeline("audit"),
            _link_pipeline(pipeline),
        ]


async def _declare_policy(
    server: ForgeServer, ctx: Context[Any, Any], wanted: Mapping[str, str]
) -> str:
    """Declare a session's policy and return it in words, with the tools that it hides."""
    given = {name: value for name, value in wanted.items() if value.strip()}
    try:
        policy = SessionPolicy.model_validate(given)
    except ValidationError as error:
        raise MCPError(INVALID_PARAMS, "; ".join(list_problems(error))) from error
    counts = await server.policies.declare(ctx, policy)
    tools = await server.list_tools() if policy.only_looks and counts else []
    hidden = ", ".join(tool.name for tool in tools if may_change(tool)) or "none"
    return f"{policy.words}. Hidden tools: {hidden}.{'' if counts else _NO_SESSION}"


def _link_pipeline(pipeline: str) -> UserMessage:
    uri = f"forge://pipeline/{pipeline}"
    return UserMessage(ResourceLink(type="resource_link", uri=uri, name=pipeline))


async def _read_project(server: ForgeServer, path: str) -> tuple[str, str, str]:
    """Id, context and pipeline of the served project. Raises an error of the protocol, since
    prompts know no other.
    """

    def read(service: "Service") -> tuple[str, str, str]:
        served = service.served
        served.check_project(path)
        context = make_sendable(service.queries.context(served.id))
        return served.id, context, served.config.pipeline

    try:
        return await server.ask(read)
    except ForgeError as error:
        raise MCPError(INVALID_PARAMS, describe_error(error)) from error
