"""Notify clients that a resource has changed, in both versions of the protocol, and of the progress
of a long call.
"""

import contextlib
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.session import ServerSession
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from forge_bot.mcp_server.tool_results import state_address

if TYPE_CHECKING:
    from forge_bot.runs.notifications import Notice


class ProgressNotifier:
    """Tells a client, from a worker thread, what our own process is doing."""

    def __init__(self, ctx: Context[Any, Any]) -> None:
        self._ctx = ctx
        self._steps = count(1)

    def __call__(self, notice: "Notice") -> None:
        """Pass a notice on; a client that went away is no reason to stop."""
        if words := _progress_words(notice):
            with contextlib.suppress(Exception):
                anyio.from_thread.run(
                    self._ctx.report_progress, float(next(self._steps)), None, words
                )


class Listeners:
    """The subscriptions of clients, by address. Clients of the newer protocol have a stream of
    their own.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, list[ServerSession]] = {}

    async def subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        """Serve resources/subscribe."""
        known = self._sessions.get(params.uri, [])
        if not any(_same(session, ctx.session) for session in known):
            self._sessions[params.uri] = [*known, ctx.session]
        return EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Serve resources/unsubscribe."""
        known = self._sessions.pop(params.uri, [])
        if others := [session for session in known if not _same(session, ctx.session)]:
            self._sessions[params.uri] = others
        return EmptyResult()

    async def tell(self, uri: str) -> None:
        """Notify clients that a resource has changed. Clients that have disconnected are
        forgotten.
        """
        for session in list(self._sessions.get(uri, ())):
            try:
                await session.send_resource_updated(uri)
            # A client that went away in any way is no listener any more.
            except Exception:  # noqa: BLE001
                self._sessions[uri].remove(session)


def _same(one: ServerSession, other: ServerSession) -> bool:
    """Return whether two requests came over one connection: then the client's parameters are the
    same object.
    """
    return one.client_params is not None and one.client_params is other.client_params


async def announce(
    listeners: Listeners, ctx: Context[Any, Any], workspace: str, *, fresh: bool = False
) -> None:
    """Notify clients that a run has changed, or with `fresh` that there is a new one. A client that
    cannot be reached is no error.
    """
    uri = state_address(workspace)
    await listeners.tell(uri)
    await ctx.notify_resource_updated(uri)
    if fresh:
        await ctx.notify_resources_changed()
        with contextlib.suppress(Exception):
            await ctx.session.send_resource_list_changed()


def client_name(ctx: Context[Any, Any]) -> str:
    """Return the client's name for itself; it may say anything."""
    params = ctx.session.client_params
    name = params.client_info.name if params is not None else ""
    return "".join(sign for sign in name if sign.isprintable())[:60]


def _progress_words(notice: "Notice") -> str:
    # The engine stands behind these: by now it is here, and a server that starts has no need of it.
    from forge_bot.runs.notifications import (
        CommandBegan,
        CommandEnded,
        Message,
        PhaseBegan,
    )

    match notice:
        case PhaseBegan():
            return notice.label
        case CommandBegan():
            return f"{notice.name.value}: {' '.join(notice.argv)}"
        case CommandEnded():
            return f"{notice.result.name.value} ended with {notice.result.exit_code}"
        case Message():
            return notice.text
        case _:
            return ""
