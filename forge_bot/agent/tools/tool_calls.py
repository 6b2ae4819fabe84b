"""Calls of tools: arguments checked against their schema, then one session with the server."""

import asyncio
import json
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from forge_bot.agent.capabilities import CapabilityRequest, CapabilityResult, ResultStatus
from forge_bot.agent.providers.provider_result import Declined, ProviderResult, result_of
from forge_bot.agent.tools.argument_schema import faults_of
from forge_bot.agent.tools.mcp_client import execute_mcp_tool
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import SKILL_SCHEMA, ToolCatalogue
from forge_bot.text_format import cut

_MOST_SCHEMA = 4_000

T = TypeVar("T")


class ToolCalls:
    """Performs calls for one run. Safe to use from several threads."""

    def __init__(self, setup: CapabilitySetup, catalogue: ToolCatalogue) -> None:
        self.setup = setup
        self.catalogue = catalogue
        self.specs = {spec.name: spec for spec in catalogue.specs}
        self._under_way: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = set()
        self._lock = threading.Lock()
        self._called_off = False

    def complaint(self, wanted: CapabilityRequest) -> CapabilityResult | None:
        """Return the answer to arguments that do not fit the schema; no server is started."""
        tool = self.catalogue.mcp_tools.get(wanted.capability)
        faults = faults_of(tool.input_schema if tool else SKILL_SCHEMA, wanted.params)
        if not faults:
            return None
        takes = cut(tool.input_schema, _MOST_SCHEMA) if tool else SKILL_SCHEMA
        why = f"{'; '.join(faults)}. Its arguments fit this JSON Schema:\n{takes}"
        return result_of(wanted, ResultStatus.INVALID_PARAMS, why)

    def call(self, wanted: CapabilityRequest, limit: int) -> CapabilityResult:
        """Return the result of one call of a tool. Every failure is a status."""
        return self.act(wanted, limit)[0]

    def act(self, wanted: CapabilityRequest, limit: int) -> tuple[CapabilityResult, bool]:
        """Make a call that may change something; also return whether its outcome is unknown."""
        if wanted.capability not in self.specs:
            why = f"There is no capability {wanted.capability} any more."
            return result_of(wanted, ResultStatus.UNKNOWN_CAPABILITY, why), False
        if (complaint := self.complaint(wanted)) is not None:
            return complaint, False
        try:
            shown = self._run(self._executed(wanted, limit))
        except Declined as declined:
            return result_of(wanted, declined.status, declined.why), declined.sent
        return result_of(wanted, ResultStatus.OK, shown.content, shown), False

    async def _executed(self, wanted: CapabilityRequest, limit: int) -> ProviderResult:
        tool = self.catalogue.mcp_tools.get(wanted.capability)
        if tool is None:
            why = f"{wanted.capability} is a skill: it takes a model, and there is none here."
            raise Declined(ResultStatus.DENIED, why)
        return await execute_mcp_tool(self.setup, tool, json.loads(wanted.params), limit)

    def call_off(self) -> None:
        """End the running calls with their servers, and start no further ones."""
        with self._lock:
            self._called_off = True
            for loop, task in self._under_way:
                loop.call_soon_threadsafe(task.cancel)

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call in this thread until it ends or is called off."""

        async def tracked() -> T:
            task = asyncio.ensure_future(call)
            entry = (asyncio.get_running_loop(), task)
            with self._lock:
                if self._called_off:
                    task.cancel()
                self._under_way.add(entry)
            try:
                return await task
            except asyncio.CancelledError:
                declined = Declined(ResultStatus.TOOL_ERROR, "It was called off.")
                declined.sent = True
                raise declined from None
            finally:
                with self._lock:
                    self._under_way.discard(entry)

        return asyncio.run(tracked())
