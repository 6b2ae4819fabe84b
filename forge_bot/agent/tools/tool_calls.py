"""Calls of tools: arguments checked against their schema, then one session with the server."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from forge_bot.agent.assignment import WorkLimits
from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    CapabilityType,
    Effect,
    ResultStatus,
)
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.agent.providers.provider_catalogue import Declined, ProviderResult, result_of
from forge_bot.agent.tools.mcp_client import execute_mcp_tool, faults_of
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import SKILL_SCHEMA, ToolCatalogue
from forge_bot.text_format import cut

_MOST_SCHEMA = 4_000
_MOST_READ = 20_000
"""Characters of arguments that a person reads."""

PerformSkill = Callable[[CapabilityRequest], Awaitable[CapabilityResult]]

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
            shown = self._run(self._execute(wanted, limit))
        except Declined as declined:
            return result_of(wanted, declined.status, declined.why), declined.sent
        return result_of(wanted, ResultStatus.OK, shown.content, shown), False

    async def _execute(self, wanted: CapabilityRequest, limit: int) -> ProviderResult:
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


@dataclass(frozen=True)
class ToolContext:
    """Fulfils requests by the catalogue, whatever the model calls them.

    `settled` has the results of calls that the run has made or refused, by name and parameters,
    because a call with an effect is never repeated.
    """

    providers: ProviderContext
    calls: ToolCalls
    perform_skill: PerformSkill
    settled: Mapping[tuple[str, str], CapabilityResult] = field(
        default_factory=dict[tuple[str, str], CapabilityResult]
    )

    def fetch(
        self, wanted: CapabilityRequest, limits: WorkLimits
    ) -> CapabilityResult | Awaitable[CapabilityResult]:
        """Return the result of one request, or that it needs a person's approval first."""
        spec = self.calls.specs.get(wanted.capability)
        if spec is None:
            return self.providers.fetch(wanted, limits)
        if (complaint := self.calls.complaint(wanted)) is not None:
            return complaint
        if spec.effect is not Effect.ACTS:
            skill = spec.kind is CapabilityType.SKILL
            return (
                self.perform_skill(wanted)
                if skill
                else self.calls.call(wanted, limits.result_chars)
            )
        if len(wanted.params) > _MOST_READ:
            why = f"A person has to read these arguments: {_MOST_READ:,} characters are the most."
            return result_of(wanted, ResultStatus.INVALID_PARAMS, why)
        before = self.settled.get((wanted.capability, wanted.params))
        if before is not None:
            return before.replace(key=wanted.key)
        return result_of(wanted, ResultStatus.STANDS, "It stands before it is done.")
