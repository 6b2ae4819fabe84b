"""The server with its tools, resources, prompts and completion."""

from pathlib import Path

from forge_bot.mcp_server.sdk_server.argument_completion import add_completion
from forge_bot.mcp_server.sdk_server.prompts import add_prompts
from forge_bot.mcp_server.sdk_server.protocol import ForgeServer
from forge_bot.mcp_server.sdk_server.resource_handlers import add_resources
from forge_bot.mcp_server.sdk_server.side_tools import add_side_tools
from forge_bot.mcp_server.sdk_server.tools import add_beginning, add_loop


def make_server(folder: Path | None, *, debug: bool = False) -> ForgeServer:
    """The server for a folder of a repository; with `debug` its errors have a context. Without a
    folder it serves the current one, or what its client has open.
    """
    server = ForgeServer(folder, debug=debug)
    for add in (
        add_beginning,
        add_loop,
        add_side_tools,
        add_resources,
        add_prompts,
        add_completion,
    ):
        add(server)
    return server
