"""The server with everything it offers: tools, resources, prompts and completion."""

from forge_bot import __version__
from forge_bot.mcp_server.argument_completion import add_completion
from forge_bot.mcp_server.prompts import add_prompts
from forge_bot.mcp_server.protocol import ForgeServer
from forge_bot.mcp_server.resource_handlers import add_resources
from forge_bot.mcp_server.service_calls import LazyService
from forge_bot.mcp_server.side_tools import add_history, add_looking, add_steering
from forge_bot.mcp_server.tools import add_beginning, add_loop, add_reporting

INSTRUCTIONS = (
    "forge-bot takes a task to a reviewed change: pipeline_init, pipeline_init_with_context (ask"
    " the person once), then pipeline_next_action until it says done. Do exactly the action you"
    " get: forge-bot decides what comes next, commits and runs the tests."
)


def make_server(desk: LazyService, *, debug: bool = False) -> ForgeServer:
    """The server for a desk; with `debug` its errors have a context."""
    server = ForgeServer(desk, version=__version__, instructions=INSTRUCTIONS, debug=debug)
    add_beginning(server, desk)
    add_loop(server, desk)
    add_reporting(server, desk)
    add_looking(server, desk)
    add_history(server, desk)
    add_steering(server, desk)
    add_resources(server, desk)
    add_prompts(server, desk)
    add_completion(server, desk)
    return server
