"""The folders that a client has open, requested only if they matter.

The request has the form that both eras of the protocol understand.
https://modelcontextprotocol.io/specification (roots): a list of `file:` addresses, for clients that
declare it.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.server.mcpserver import Context, ListRoots
from mcp.types import ListRootsResult

from forge_bot.mcp_server.service_calls import LazyService, in_thread


def client_folders(
    service: LazyService,
) -> Callable[[Context[Any, Any], str], Awaitable[ListRootsResult | ListRoots]]:
    """Return a function that fills a tool's parameter with the client's folders: nobody is asked
    where a project is named, or one folder is served.
    """

    async def opened(ctx: Context[Any, Any], project: str) -> ListRootsResult | ListRoots:
        able = ctx.client_capabilities
        if (
            project
            or able is None
            or able.roots is None
            or not await in_thread(lambda: service().roots.undecided)
        ):
            return ListRootsResult(roots=[])
        return ListRoots()

    return opened


def folders(found: ListRootsResult) -> tuple[Path, ...]:
    """Return the paths of a client's roots, in its order, without those that are no folder of this
    machine.
    """
    addresses = (urlsplit(str(root.uri)) for root in found.roots)
    return tuple(
        Path(url2pathname(each.path))
        for each in addresses
        if each.scheme == "file" and each.netloc in {"", "localhost"}
    )
