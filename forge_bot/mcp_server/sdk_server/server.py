"""The server with its tools, resources, prompts and completion."""

from forge_bot import __version__
from forge_bot.mcp_server.sdk_server.argument_completion import add_completion
from forge_bot.mcp_server.sdk_server.prompts import add_prompts
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.sdk_server.resource_handlers import add_resources
from forge_bot.mcp_server.sdk_server.side_tools import (
    add_history,
    add_project,
    add_runs,
    add_steering,
)
from forge_bot.mcp_server.sdk_server.tools import add_beginning, add_loop, add_reporting
from forge_bot.mcp_server.service_calls import LazyService

INSTRUCTIONS = (
    "forge-bot takes a task to a reviewed change: pipeline_init, pipeline_init_with_context (ask"
    " the person once), then pipeline_next_action until it says done. Do exactly the action you"
    " get: forge-bot decides what comes next, commits and runs the tests."
)


def make_server(service: LazyService, *, debug: bool = False) -> ForgeServer:
    """The server for a service; with `debug` its errors have a context."""
    server = _empty(service, debug=debug)
    _fill(server)
    return server


def make_later(service: LazyService, *, debug: bool = False) -> ForgeServer:
    """The same server, whose tools, resources and prompts are made when a client asks for the first
    time: a greeting names none of them.
    """
    server = _empty(service, debug=debug)
    server.before_first_question(lambda: _fill(server))
    return server


def _empty(service: LazyService, *, debug: bool) -> ForgeServer:
    server = ForgeServer(service, version=__version__, instructions=INSTRUCTIONS, debug=debug)
    # Whether it completes is part of the greeting.
    add_completion(server, service)
    return server


def _fill(server: ForgeServer) -> None:
    service = server.service
    add_beginning(server, service)
    add_loop(server, service)
    add_reporting(server, service)
    add_project(server, service)
    add_runs(server, service)
    add_history(server, service)
    add_steering(server, service)
    add_resources(server, service)
    add_prompts(server, service)
