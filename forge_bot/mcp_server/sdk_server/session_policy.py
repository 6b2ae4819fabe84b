"""The policy of a client's session: the level of detail, and whether the client may change
anything.

A prompt declares it. It is kept by a server of one client, until the client declares another.
"""

import contextlib
from typing import Any, Literal

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.types import ListToolsResult, Tool

from forge_bot.errors import SessionOnlyLooks
from forge_bot.values import Frozen

ResponseTier = Literal["L0", "L1", "L2"]

_LISTING = "tools/list"


class SessionPolicy(Frozen):
    """The values of one session."""

    response_tier: ResponseTier = "L0"
    policy_mode: Literal["enforced", "read-only"] = "enforced"
    dry_run: bool = False
    debug: bool = False

    @property
    def only_looks(self) -> bool:
        """Return whether tools that change something are hidden and refused."""
        return self.dry_run or self.policy_mode == "read-only"

    @property
    def words(self) -> str:
        """The values as a contract says them."""
        values = self.model_dump(mode="json")
        pairs = (f"{name}={str(value).lower() if isinstance(value, bool) else value}"
                for name, value in values.items())  # fmt: skip
        return ", ".join(pairs)


class SessionPolicies:
    """The policy of the one client of a server; many clients of one server have the usual one. The
    list of tools passes through it as middleware.
    """

    def __init__(self, *, debug: bool = False) -> None:
        self.shared = False
        self.current = SessionPolicy(debug=debug)

    async def declare(self, ctx: Context[Any, Any], policy: SessionPolicy) -> bool:
        """Store the policy, and notify the client that its tools have changed. Return whether there
        is a session that it counts for.
        """
        if self.shared:
            return False
        before, self.current = self.current, policy
        if before.only_looks != policy.only_looks:
            with contextlib.suppress(Exception):
                await ctx.session.send_tool_list_changed()
        return True

    def check(self, tool: Tool) -> None:
        """Raise SessionOnlyLooks for a tool that changes something in a session that only looks."""
        if self.current.only_looks and may_change(tool):
            raise SessionOnlyLooks(f"{tool.name} changes something, and this session only looks.")

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Remove hidden tools from a list of tools."""
        result = await call_next(ctx)
        if ctx.method != _LISTING or not isinstance(result, dict) or not self.current.only_looks:
            return result
        listed = ListToolsResult.model_validate(result).tools
        hidden = {tool.name for tool in listed if may_change(tool)}
        return {**result, "tools": [tool for tool in result["tools"] if tool["name"] not in hidden]}


def may_change(tool: Tool) -> bool:
    """Return whether a tool may change something."""
    return tool.annotations is None or not tool.annotations.read_only_hint
