"""The engine as an MCP server: the client is the host, asks for the next action, does it and reports.

The SDK is imported by `serving` and what stands above it only; the desk below speaks no protocol.
"""

from forge_bot.mcp_server.desk import Desk

__all__ = ["Desk"]
