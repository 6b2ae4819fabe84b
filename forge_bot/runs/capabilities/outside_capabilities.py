"""The tools and skills of one run: discovered once, reported if one is missing, and offered in an
order that fits the request.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from forge_bot.agent.capabilities import CapabilityResult, CapabilityType, Effect, ResultStatus
from forge_bot.agent.tools.server_consent import servers_digest
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.agent.tools.skills import skill_digest, skill_folders
from forge_bot.agent.tools.tool_calls import ToolCalls
from forge_bot.agent.tools.tool_catalogue import ToolCatalogue, discover_capabilities
from forge_bot.engine.capability_uses import summed
from forge_bot.errors import BadCapabilities, CapabilityMissing
from forge_bot.prompts.material import Capability
from forge_bot.prompts.untrusted import clean
from forge_bot.runs.capabilities.capability_descriptions import describe_capability
from forge_bot.runs.capabilities.capability_setup import (
    CapabilityOptions,
    capability_setup,
    setup_of,
)
from forge_bot.runs.notifications import Notify, warning
from forge_bot.runs.run import Run
from forge_bot.runs.run_paths import read_kept
from forge_bot.settings import Config
from forge_bot.store import write_whole
from forge_bot.values import CapabilityUse, Frozen

_MOST_DESCRIBED = 30


class _Kept(Frozen):
    """The capabilities that an earlier process of this run discovered, and its configuration."""

    configured: str
    catalogue: ToolCatalogue


class OutsideCapabilities:
    """The tools and skills that a run may ask for. Nothing is started before it is needed."""

    def __init__(self, run: Run, environ: Mapping[str, str], tell: Notify) -> None:
        self.run = run
        self.tell = tell
        self.environ = environ
        self.catalogue = ToolCatalogue()
        self.menu_notes: tuple[str, ...] = ()
        self.undescribed: tuple[str, ...] = ()
        self._ready = False
        self._lock = asyncio.Lock()

    @property
    def setup(self) -> CapabilitySetup:
        """Return the configuration. Raises BadCapabilities."""
        return self._setup

    @cached_property
    def _setup(self) -> CapabilitySetup:
        return setup_of(self.run, self.environ)

    @cached_property
    def calls(self) -> ToolCalls:
        """Return the performer of this run's calls."""
        return ToolCalls(self.setup, self.catalogue)

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
                self.catalogue = self._kept() or await discover_capabilities(self.setup)
                self._tell_problems()
                self._keep()
                self._order()
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

    def _kept(self) -> ToolCatalogue | None:
        """Return what an earlier process of this run discovered: servers take time to start."""
        kept = read_kept(self._place, _Kept)
        if kept is None or kept.configured != self._configured:
            return None
        return kept.catalogue

    def _keep(self) -> None:
        if not self.catalogue.broken:
            kept = _Kept(configured=self._configured, catalogue=self.catalogue)
            write_whole(self._place, kept.model_dump_json().encode())

    @cached_property
    def _place(self) -> Path:
        return self.run.places.home / "capabilities.json"

    @cached_property
    def _configured(self) -> str:
        setup = self.setup
        skills = [
            (str(folder), skill_digest(folder))
            for place in setup.skill_folders
            for folder in skill_folders(place)
        ]
        configuration = [servers_digest(setup), setup.policy.model_dump_json(), skills]
        return hashlib.sha256(json.dumps(configuration).encode()).hexdigest()

    def _tell_problems(self) -> None:
        for problem in self.catalogue.problems:
            self.tell(warning(f"{problem.about}: {problem.sentence}"))
        require(self.setup, self.catalogue)

    def _order(self) -> None:
        """Describe the capabilities that fit the request best. A long list has only names for the
        others.
        """
        if len(self.catalogue.specs) > _MOST_DESCRIBED:
            described = [describe_capability(spec) for spec in self.catalogue.specs]
            best = self._best(described)
            self.undescribed = tuple(
                capability.name for capability in described if capability.name not in best
            )
            named = ", ".join(f"`{name}`" for name in self.undescribed)
            self.menu_notes = (f"Also, by name; what one takes is told when you ask it: {named}.",)
        self.menu_notes += tuple(
            f"Not available now: {clean(problem.about).text}." for problem in self.catalogue.broken
        )

    def _best(self, described: Sequence[Capability]) -> set[str]:
        """Return the names of those that share most words with the request, filled up in order."""
        from forge_bot.knowledge.search_index import Ranking
        from forge_bot.project.search_words import words

        request = self.run.request
        ranking = Ranking(
            [words(f"{capability.name} {capability.description}") for capability in described]
        )
        asked = words(f"{request.title}\n{request.text}")
        ranked = [described[place].name for place, _ in ranking.best(asked, _MOST_DESCRIBED)]
        every = (*ranked, *(capability.name for capability in described))
        return set(tuple(dict.fromkeys(every))[:_MOST_DESCRIBED])


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
    """Return the record of use for a result."""
    denied = item.status is ResultStatus.DENIED
    return CapabilityUse(
        name=item.capability,
        calls=1,
        failed=int(item.status is not ResultStatus.OK and not denied),
        denied=int(denied),
        seconds=item.seconds,
        cost=item.usage.cost,
    )
