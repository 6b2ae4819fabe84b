"""Calls of the service in a thread beside the event loop. The service is created at the first
call.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio.lowlevel import RunVar
from mcp.server.mcpserver import Context

if TYPE_CHECKING:
    from forge_bot.mcp_server.client_runs.client_actions import ClientAction
    from forge_bot.mcp_server.service import Service

Answer = TypeVar("Answer")

_AT_ONCE = 64
"""Calls at work at the same time; further ones wait for their turn, and everything that needs no
service does not."""

_LIMIT: RunVar[anyio.CapacityLimiter] = RunVar("_LIMIT")


class LazyService:
    """The service for some folders, made at its first call, because importing the engine takes as
    long as importing the protocol.

    Folders that nobody `named` are replaced by the client's open folders, unless they are
    repositories.
    """

    def __init__(self, folders: Sequence[Path], *, named: bool = True) -> None:
        self.folders = tuple(folders)
        self.named = named
        self._service: Service | None = None
        self._making = threading.Lock()

    def __call__(self) -> "Service":
        """The service."""
        with self._making:
            if self._service is None:
                from forge_bot.mcp_server.service import Service

                self._service = Service(self.folders, named=self.named)
            return self._service

    def before_calls(self, build: Callable[[], object]) -> None:
        """Build something that calls would build at their first need; a call that comes meanwhile
        waits for it.
        """
        self()
        with self._making:
            build()

    def asked_again(self, workspace: str, given: Mapping[str, Any]) -> "ClientAction | None":
        """Return the outstanding action of a workspace if nothing was reported and nothing has
        changed; None before the service exists.
        """
        return self._service.asked_again(workspace, given) if self._service is not None else None

    def close(self) -> None:
        """End the running project commands, and start no further ones."""
        if self._service is not None:
            self._service.check_tree.close()


async def in_thread(call: Callable[[], Answer]) -> Answer:
    """Run a call of the service in a thread, to its end even if the client disconnects, so that
    nothing is recorded by half.
    """
    # Limits of our own: the SDK reads and writes its pipes under the usual one, and would have to
    # wait for calls that wait.
    limit = _LIMIT.get(None)
    if limit is None:
        _LIMIT.set(limit := anyio.CapacityLimiter(_AT_ONCE))
    return await anyio.to_thread.run_sync(call, limiter=limit)


def calls_at_work() -> int:
    """Return how many calls of the service are at work, of the event loop that asks."""
    limit = _LIMIT.get(None)
    return limit.borrowed_tokens if limit is not None else 0


def client_name(ctx: Context[Any, Any]) -> str:
    """Return the client's name for itself; it may say anything."""
    told = ctx.session.client_params
    return (
        "".join(sign for sign in told.client_info.name if sign.isprintable())[:60]
        if told is not None
        else ""
    )
