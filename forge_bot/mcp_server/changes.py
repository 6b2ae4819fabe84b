"""Clients told that something they may have read is another now, in both eras of the protocol."""

import contextlib
from typing import Any

from mcp.server.mcpserver import Context


async def announce(ctx: Context[Any, Any], workspace: str, *, fresh: bool = False) -> None:
    """Say that a run went on; with `fresh`, that there is a new one. A client that does not listen is no reason to fail."""
    run = workspace.rstrip("/").rpartition("/")[2]
    with contextlib.suppress(Exception):
        for part in ("state", "log", "artifacts"):
            await ctx.notify_resource_updated(f"forge://run/{run}/{part}")
            await ctx.session.send_resource_updated(f"forge://run/{run}/{part}")
        if fresh:
            await ctx.notify_resources_changed()
            await ctx.session.send_resource_list_changed()
