"""The prompts. They define the limits of a session with forge-bot, not its steps."""

from collections.abc import Mapping
from typing import Any

from mcp import MCPError
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import INVALID_PARAMS, EmbeddedResource, ResourceLink, TextResourceContents
from pydantic import ValidationError

from forge_bot.errors import ForgeError
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer, problems_of
from forge_bot.mcp_server.sdk_server.resource_handlers import MARKDOWN
from forge_bot.mcp_server.sdk_server.session_policy import SessionPolicy, changes
from forge_bot.mcp_server.service_calls import LazyService, in_thread
from forge_bot.mcp_server.tool_results import in_words, sendable

_CHANNELS = "Beside answers come in _meta: hints, resource_links, annotations, ui, error."
_NOT_KEPT = (
    " This connection has no session, so the server keeps none of it: give response_tier with each"
    " call."
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
    " forge://pipeline/audit has the steps, and keeps what is found after a person's yes. Its runs:"
    " whether each decision was a person's and for which version (state, decisions), whether"
    " reviews found what later failed, whether the verification rests on commands that ran.\nState"
    " and log of a run are the record; its documents are claims. The phases and what each must"
    " contain: forge://pipeline/{pipeline}."
)


def add_prompts(server: ForgeServer, service: LazyService) -> None:
    """The two prompts."""

    @server.prompt(name="forge/start", title="Work with forge-bot")
    async def start(
        ctx: Context[Any, Any],
        project_path: str = "",
        response_tier: str = "",
        dry_run: str = "",
        debug: str = "",
    ) -> list[Message]:
        """The contract of a session in a project, with the project's context; without a path in the
        first that is served. dry_run=true hides what changes something.
        """
        root, text, pipeline = await _asked(service, project_path)
        wanted = {"response_tier": response_tier, "dry_run": dry_run, "debug": debug}
        said = await _contract(server, ctx, wanted)
        context = TextResourceContents(
            uri=f"forge://project/{root}/context", mime_type=MARKDOWN, text=text
        )
        # The words come first: there are clients, Gemini CLI among them, that take the first
        # message and only if it is text.
        return [
            UserMessage(_START.format(root=root, pipeline=pipeline, contract=said)),
            UserMessage(EmbeddedResource(type="resource", resource=context)),
            _link(f"forge://pipeline/{pipeline}", pipeline),
        ]

    @server.prompt(name="forge/audit", title="Audit a project and its runs")
    async def audit(ctx: Context[Any, Any], project_path: str = "") -> list[Message]:
        """The contract of a session that only looks at a project and its runs; without a path at
        the first that is served.
        """
        root, _, pipeline = await _asked(service, project_path)
        said = await _contract(server, ctx, {"response_tier": "L1", "policy_mode": "read-only"})
        return [
            UserMessage(_AUDIT.format(project=root, pipeline=pipeline, contract=said)),
            _link("forge://pipeline/audit", "audit"),
            _link(f"forge://project/{root}/runs", "runs"),
            _link(f"forge://pipeline/{pipeline}", pipeline),
        ]


async def _contract(server: ForgeServer, ctx: Context[Any, Any], wanted: Mapping[str, str]) -> str:
    """Declare a session's policy and return it in words, with the tools that it hides."""
    given = {name: value for name, value in wanted.items() if value.strip()}
    try:
        policy = SessionPolicy.model_validate(given)
    except ValidationError as error:
        raise MCPError(INVALID_PARAMS, "; ".join(problems_of(error))) from error
    kept = await server.policies.declare(ctx, policy)
    tools = await server.list_tools() if policy.only_looks and kept else []
    hidden = ", ".join(tool.name for tool in tools if changes(tool)) or "none"
    return f"{policy.words}. Hidden tools: {hidden}.{'' if kept else _NOT_KEPT}"


def _link(uri: str, name: str) -> UserMessage:
    return UserMessage(ResourceLink(type="resource_link", uri=uri, name=name))


async def _asked(service: LazyService, path: str) -> tuple[str, str, str]:
    """Id, context and pipeline address of a served project. Raises an error of the protocol, since
    prompts know no other.
    """

    def read() -> tuple[str, str, str]:
        root = service().roots.root(path)
        return (
            root.id,
            sendable(service().looking.context(root.id)),
            service().looking.pipeline_of(root),
        )

    try:
        return await in_thread(read)
    except ForgeError as error:
        raise MCPError(INVALID_PARAMS, in_words(error)) from error
