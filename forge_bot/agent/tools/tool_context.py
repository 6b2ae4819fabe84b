"""All capabilities that an agent may request in one work tree: the providers, and the
configured ones.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from forge_bot.agent.capabilities import (
    CapabilityRequest,
    CapabilityResult,
    CapabilityType,
    Effect,
    ResultStatus,
)
from forge_bot.agent.limits import WorkLimits
from forge_bot.agent.providers.context import ProviderContext
from forge_bot.agent.providers.provider_result import result_of
from forge_bot.agent.tools.tool_calls import ToolCalls

_MOST_SHOWN = 20_000

PerformSkill = Callable[[CapabilityRequest], Awaitable[CapabilityResult]]


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
        if len(wanted.params) > _MOST_SHOWN:
            why = f"A person has to read these arguments: {_MOST_SHOWN:,} characters are the most."
            return result_of(wanted, ResultStatus.INVALID_PARAMS, why)
        before = self.settled.get((wanted.capability, wanted.params))
        if before is not None:
            return before.replace(key=wanted.key)
        return result_of(wanted, ResultStatus.STANDS, "It stands before it is done.")
