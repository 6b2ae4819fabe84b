"""The tools and skills of one run: discovered once, and reported if one is missing."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from forge_bot.agent.capabilities import CapabilityResult, CapabilityType, Effect, ResultStatus
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.tool_catalogue import ToolCalls, ToolCatalogue, discover_capabilities
from forge_bot.engine.capability_uses import summed
from forge_bot.errors import BadCapabilities, CapabilityMissing
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.capabilities.capability_setup import (
    CapabilityOptions,
    capability_setup,
    setup_of,
)
from forge_bot.runs.notifications import Notify, warning
from forge_bot.runs.run import Run
from forge_bot.settings import Config
from forge_bot.values import CapabilityUse


class OutsideCapabilities:
    """The tools and skills that a run may ask for. Nothing is started before it is needed."""

    def __init__(self, run: Run, environ: Mapping[str, str], tell: Notify) -> None:
        self.run = run
        self.tell = tell
        self.environ = environ
        self.catalogue = ToolCatalogue()
        self._ready = False
        self._lock = asyncio.Lock()

    @cached_property
    def setup(self) -> CapabilitySetup:
        """Return the configuration. Raises BadCapabilities."""
        return setup_of(self.run, self.environ)

    @cached_property
    def calls(self) -> ToolCalls:
        """Return the performer of this run's calls."""
        return ToolCalls(self.setup, self.catalogue)

    @property
    def menu_notes(self) -> tuple[str, ...]:
        """Return what stands below the menu of a prompt: what is not available now."""
        broken = (clean(problem.about).text for problem in self.catalogue.broken)
        return tuple(f"Not available now: {about}." for about in broken)

    @property
    def looked_up(self) -> Mapping[str, CapabilityType]:
        """Return the kinds of capabilities that are called within a conversation, by name."""
        acts = Effect.ACTS
        return {spec.name: spec.kind for spec in self.catalogue.specs if spec.effect is not acts}

    @property
    def skill_seconds(self) -> float:
        """Return the time limit of a skill; None if there are no skills."""
        return self.setup.policy.skill_seconds if self.catalogue.skill_definitions else 0.0

    async def discover(self) -> None:
        """Ask all servers and read all skills, once. Raises BadCapabilities, CapabilityMissing."""
        async with self._lock:
            if not self._ready and not (self.setup.empty and not self.setup.policy.required):
                self.catalogue = await discover_capabilities(self.setup)
                for problem in self.catalogue.problems:
                    self.tell(warning(f"{problem.about}: {problem.sentence}"))
                require(self.setup, self.catalogue)
            self._ready = True

    def uses(self, results: Sequence[CapabilityResult]) -> tuple[CapabilityUse, ...]:
        """Return the uses among results, and offered or missing capabilities not reported yet."""
        reported = {capability.name for capability in self.run.state.capabilities}
        names = {spec.name for spec in self.catalogue.specs}
        uses = [
            use_of(item)
            for item in results
            if item.capability in names and item.status not in _NO_USE
        ]
        # A denied capability is not offered, so an agent does not know its name.
        denied = [item.capability for item in results if item.capability in self.catalogue.denied]
        uses += [CapabilityUse(name=name, calls=1, denied=1) for name in denied]
        missing = [
            CapabilityUse(name=problem.about, missing=problem.sentence)
            for problem in self.catalogue.broken
            if problem.about not in reported
        ]
        offered = [CapabilityUse(name=name) for name in sorted(names - reported)]
        return summed((), (*offered, *uses, *missing))

    def call_off(self) -> None:
        """End the calls that are under way, with their servers."""
        if "calls" in vars(self):
            self.calls.call_off()


def problems_of_files(root: Path, options: CapabilityOptions) -> tuple[str, ...]:
    """Return the problems of the files of servers and skills, whatever the configuration says."""
    try:
        setup = capability_setup(root, Config(), options)
    except BadCapabilities as error:
        return (error.message, *error.details)
    problems = asyncio.run(discover_capabilities(setup, ())).problems
    return tuple(f"{problem.about}: {problem.sentence}" for problem in problems)


def require_before_run(setup: CapabilitySetup) -> None:
    """Raise CapabilityMissing for what the configuration requires and cannot be used. Only servers
    that are required are asked.
    """
    if names := setup.policy.required:
        servers = [name for name in setup.servers if name in names]
        require(setup, asyncio.run(discover_capabilities(setup, servers)))


def require(setup: CapabilitySetup, catalogue: ToolCatalogue) -> None:
    """Raise CapabilityMissing where a required server or skill is not in the catalogue."""
    broken = {problem.about.rpartition("/")[2]: problem for problem in catalogue.broken}
    there = {spec.name for spec in catalogue.specs}
    there |= {tool.server_name for tool in catalogue.mcp_tools.values()}
    if missing := [name for name in setup.policy.required if name not in there]:
        names = ", ".join(missing)
        raise CapabilityMissing(
            f"This run needs {names}, which cannot be used.",
            details=tuple(
                f"{name}: {broken[key].sentence}"
                for name in missing
                if (key := name.removeprefix("skill_")) in broken
            ),
        )


_NO_USE = frozenset({ResultStatus.SKIPPED_DUPLICATE, ResultStatus.STANDS})


def use_of(item: CapabilityResult) -> CapabilityUse:
    denied = item.status is ResultStatus.DENIED
    return CapabilityUse(
        name=item.capability,
        calls=1,
        failed=int(item.status is not ResultStatus.OK and not denied),
        denied=int(denied),
        seconds=item.seconds,
        cost=item.usage.cost,
    )
