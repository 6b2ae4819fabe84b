"""Sends progress notifications to a client that waits for a long call."""

import contextlib
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.mcpserver import Context

if TYPE_CHECKING:
    from forge_bot.runs.notifications import Notice


class ProgressNotifier:
    """Tells a client, from a worker thread, what our own process is doing."""

    def __init__(self, ctx: Context[Any, Any]) -> None:
        self._ctx = ctx
        self._steps = count(1)

    def __call__(self, notice: "Notice") -> None:
        """Pass a notice on; a client that went away is no reason to stop."""
        if words := _words(notice):
            with contextlib.suppress(Exception):
                anyio.from_thread.run(
                    self._ctx.report_progress, float(next(self._steps)), None, words
                )


def _words(notice: "Notice") -> str:
    # The engine stands behind these: by now it is here, and a server that starts has no need of it.
    from forge_bot.runs.notifications import (
        CommandBegan,
        CommandEnded,
        Message,
        PastRunsRead,
        PhaseBegan,
    )

    match notice:
        case PhaseBegan():
            return notice.label
        case CommandBegan():
            return f"{notice.name.value}: {' '.join(notice.argv)}"
        case CommandEnded():
            return f"{notice.result.name.value} ended with {notice.result.exit_code}"
        case Message() | PastRunsRead():
            return notice.text
        case _:
            return ""
