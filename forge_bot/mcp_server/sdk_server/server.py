"""The server with its tools, resources, prompts and completion."""

from pathlib import Path

from forge_bot.mcp_server.sdk_server.prompts import add_prompts
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.sdk_server.resource_handlers import add_completion, add_resources
from forge_bot.mcp_server.sdk_server.side_tools import add_side_tools
from forge_bot.mcp_server.sdk_server.tools import add_beginning_tools, add_loop_tools


def make_server(folder: Path | None, *, debug: bool = False, by_path: bool = False) -> ForgeServer:
    """The server for a folder of a repository; with `debug` its errors have a context, with
    `by_path` it hands out paths of prompts. Without a folder it serves the current one, or what its
    client has open.
    """
    server = ForgeServer(folder, debug=debug, by_path=by_path)
    for add in (
        add_beginning_tools,
        add_loop_tools,
        add_side_tools,
        add_resources,
        add_prompts,
        add_completion,
    ):
        add(server)
    return server
