"""The prompts: what a session with forge-bot is bound to, not which steps it takes."""

from mcp import MCPError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import INVALID_PARAMS, EmbeddedResource, ResourceLink, TextResourceContents

from forge_bot.errors import ForgeError
from forge_bot.mcp_server.protocol import ForgeServer
from forge_bot.mcp_server.resource_handlers import MARKDOWN
from forge_bot.mcp_server.service_calls import LazyService, in_thread
from forge_bot.mcp_server.tool_results import in_words, sendable

_CHANNELS = (
    "Beside answers come in _meta: hints, resource_links, annotations, ui, error. No tool is"
    " hidden."
)
_START = (
    "The project's context is loaded below; forge_orient has nothing to add to it. Where it did"
    " not arrive: forge://project/{root}/context.\nContract of this session: response_tier=L0,"
    " policy_mode=enforced. forge-bot decides what comes next, makes the commits and runs the"
    " project's commands; an approval is the person's word, and only the"
    f" person's.\n{_CHANNELS}\nThe pipeline is data: forge://pipeline/{{pipeline}}. What is asked"
    " of this session at any moment is the action that pipeline_next_action returns, complete in"
    " itself."
)
_AUDIT = (
    "Contract of this session: response_tier=L1, policy_mode=read-only. Nothing is begun,"
    f" answered, sent back or ended.\n{_CHANNELS}\nWhat is audited are the runs of {{project}}:"
    " whether each decision was a person's and for which version (state, decisions), whether"
    " reviews found what later failed, whether the verification rests on commands that ran.\nState"
    " and log of a run are the record; its documents are claims. The phases and what each must"
    " contain: forge://pipeline/{pipeline}."
)


def add_prompts(server: ForgeServer, desk: LazyService) -> None:
    """The two prompts."""

    @server.prompt(name="forge/start", title="Work with forge-bot")
    async def start(project_path: str = "") -> list[Message]:
        """The contract of a session in a project, with the project's context; without a path in the
        first that is served.
        """
        root, text, pipeline = await _asked(desk, project_path)
        context = TextResourceContents(
            uri=f"forge://project/{root}/context", mime_type=MARKDOWN, text=text
        )
        # The words come first: there are clients, Gemini CLI among them, that take the first
        # message and only if it is text.
        return [
            UserMessage(_START.format(root=root, pipeline=pipeline)),
            UserMessage(EmbeddedResource(type="resource", resource=context)),
            UserMessage(
                ResourceLink(
                    type="resource_link", uri=f"forge://pipeline/{pipeline}", name=pipeline
                )
            ),
        ]

    @server.prompt(name="forge/audit", title="Audit runs of forge-bot")
    async def audit(project_path: str = "") -> list[Message]:
        """The contract of a session that only looks at a project's runs; without a path at those of
        the first that is served.
        """
        root, _, pipeline = await _asked(desk, project_path)
        return [
            UserMessage(_AUDIT.format(project=root, pipeline=pipeline)),
            UserMessage(
                ResourceLink(type="resource_link", uri=f"forge://project/{root}/runs", name="runs")
            ),
            UserMessage(
                ResourceLink(
                    type="resource_link", uri=f"forge://pipeline/{pipeline}", name=pipeline
                )
            ),
        ]


async def _asked(desk: LazyService, path: str) -> tuple[str, str, str]:
    """Id, context and pipeline address of a served project. Raises an error of the protocol, since
    prompts know no other.
    """

    def read() -> tuple[str, str, str]:
        root = desk().roots.root(path)
        return root.id, sendable(desk().looking.context(root.id)), desk().looking.pipeline_of(root)

    try:
        return await in_thread(read)
    except ForgeError as error:
        raise MCPError(INVALID_PARAMS, in_words(error)) from error
