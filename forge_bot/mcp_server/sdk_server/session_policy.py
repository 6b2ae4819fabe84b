"""The policy of a client's session: the level of detail, and whether the client may change
anything.

A prompt declares it. It is kept for the connection: with a server of one client for its whole life,
else for a client that began with a handshake.
"""

import contextlib
from typing import Any, Literal

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.session import ServerSession
from mcp.types import ListToolsResult, Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from forge_bot.errors import SessionOnlyLooks
from forge_bot.values import Frozen

ResponseTier = Literal["L0", "L1", "L2"]

_LISTING = "tools/list"
_MOST = 1_000
"""Sessions whose policies are kept; the oldest go first."""


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
    """The policies of a server's sessions. The list of tools passes through it as middleware."""

    def __init__(self, *, debug: bool = False) -> None:
        self.shared = False
        self._usual = self._only = SessionPolicy(debug=debug)
        self._kept: list[tuple[object, SessionPolicy]] = []

    def of(self, session: ServerSession | None) -> SessionPolicy:
        """Return the policy of a session."""
        if not self.shared:
            return self._only
        client = _client(session)
        return next((policy for each, policy in self._kept if each is client), self._usual)

    async def declare(self, ctx: Context[Any, Any], policy: SessionPolicy) -> bool:
        """Store the policy of a request's session, and notify the client that its tools have
        changed. Return whether there is a session.
        """
        before, client = self.of(ctx.session), _client(ctx.session)
        if not self.shared:
            self._only = policy
        elif client is None:
            return False
        else:
            others = [each for each in self._kept if each[0] is not client]
            self._kept = [*others, (client, policy)][-_MOST:]
        kept = self.of(ctx.session) == policy
        if kept and before.only_looks != policy.only_looks:
            with contextlib.suppress(Exception):
                await ctx.session.send_tool_list_changed()
        return kept

    def check(self, tool: Tool, session: ServerSession | None) -> None:
        """Raise SessionOnlyLooks for a tool that changes something in a session that only looks."""
        if self.of(session).only_looks and changes(tool):
            raise SessionOnlyLooks(f"{tool.name} changes something, and this session only looks.")

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Remove hidden tools from a list of tools."""
        result = await call_next(ctx)
        if ctx.method != _LISTING or not isinstance(result, dict):
            return result
        if not self.of(ctx.session).only_looks:
            return result
        listed = ListToolsResult.model_validate(result).tools
        hidden = {tool.name for tool in listed if changes(tool)}
        return {**result, "tools": [each for each in result["tools"] if each["name"] not in hidden]}


def _client(session: ServerSession | None) -> object:
    """Return the identity of a client in all its requests; None without a handshake, where each
    request is a connection of its own.
    """
    if session is None or session.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    return session.client_params


def changes(tool: Tool) -> bool:
    """Return whether a tool may change something."""
    return tool.annotations is None or not tool.annotations.read_only_hint
