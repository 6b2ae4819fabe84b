"""The tools and skills of a run: configured, discovered once, described in the menu of a prompt,
and reported if one is missing.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Self

from forge_bot.agent.capabilities import (
    CapabilityResult,
    CapabilitySpec,
    CapabilityType,
    Effect,
    ResultStatus,
)
from forge_bot.agent.tools.setup import SERVER_VARIABLES, TREE, CapabilitySetup, texts_of
from forge_bot.agent.tools.tool_catalogue import ToolCalls, ToolCatalogue, discover_capabilities
from forge_bot.engine.capability_uses import summed
from forge_bot.errors import BadCapabilities, CapabilityMissing
from forge_bot.git import Repository
from forge_bot.prompts.material import Capability
from forge_bot.prompts.untrusted import clean
from forge_bot.resources import state_home
from forge_bot.runs.notifications import Notify, warning
from forge_bot.runs.run import Run
from forge_bot.runs.run_files import read_kept, run_paths
from forge_bot.settings.capability_file import (
    CAPABILITY_FILE,
    SKILLS,
    MCPServerConfig,
    load_capability_file,
)
from forge_bot.settings.config import Config
from forge_bot.store.files import write_whole
from forge_bot.text_format import cut
from forge_bot.values import CapabilityUse, Frozen

_FILE = "capability-options.json"
_BASE = "base-files"
_ACTS = "It may change something: it is done after your turn, and you begin anew."
_NEEDED = 1_200
"""Characters about the needed parameters of a capability."""

_EXAMPLES: dict[str, dict[str, object]] = {
    "list_files": {"path": "tests", "glob": "test_*.py"},
    "read_file": {"path": "src/app.py", "start": 1, "end": 80},
    "run_snippet": {"code": "from app import parse\nprint(parse('a'))"},
    "run_tests": {"paths": ["tests/test_app.py"]},
    "search_code": {"pattern": "def main", "path": "src/**/*.py"},
}
"""One valid request for each capability. A wrong parameter gets the full list back."""


class CapabilityOptions(Frozen):
    """The files and folders that a person named for a run, by their whole paths."""

    mcp_config: Path | None = None
    skills_dirs: tuple[Path, ...] = ()

    @classmethod
    def named(cls, mcp_config: Path | None, skills_dirs: Sequence[Path] | None) -> Self:
        """Return the options for names that count from the folder the process is in."""
        return cls(
            mcp_config=mcp_config and mcp_config.absolute(),
            skills_dirs=tuple(folder.absolute() for folder in skills_dirs or ()),
        )


NOTHING_NAMED = CapabilityOptions()


def keep_options(repository: Repository, run: str, options: CapabilityOptions) -> None:
    """Remember the options of a run on this machine, for the run's later commands."""
    if options != NOTHING_NAMED:
        write_whole(run_paths(repository, run).home / _FILE, options.model_dump_json())


def setup_of(run: Run, environ: Mapping[str, str] = os.environ) -> CapabilitySetup:
    """Return the configured capabilities of a run. Raises BadCapabilities."""
    options = read_kept(run.places.home / _FILE, CapabilityOptions) or NOTHING_NAMED
    setup = capability_setup(
        run.repository.root, run.config, options, tree=run.tree.path, environ=environ
    )
    return with_base(setup, run.repository, run.state.base_commit, run.places.home / _BASE)


def with_base(
    setup: CapabilitySetup, repository: Repository, commit: str, folder: Path
) -> CapabilitySetup:
    """Return the setup with the files of the base commit in `folder`, if servers could be started
    from files that agents change: those of the run's tree.
    """
    tree, servers = setup.tree.resolve(), setup.servers.values()
    texts = (text for server in servers for text in texts_of(server))
    in_tree = setup.root.resolve().is_relative_to(tree) or any(TREE in text for text in texts)
    if not in_tree or not any(isinstance(server, MCPServerConfig) for server in servers):
        return setup
    if not folder.is_dir():
        repository.export(commit, folder)
    return replace(setup, base=folder.resolve())


def server_environ(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables that placeholders may name."""
    if SERVER_VARIABLES not in environ:
        return environ
    named = {*environ[SERVER_VARIABLES].replace(",", " ").split(), SERVER_VARIABLES}
    return {name: value for name, value in environ.items() if name in named}


def capability_setup(
    root: Path,
    config: Config,
    options: CapabilityOptions = NOTHING_NAMED,
    *,
    tree: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> CapabilitySetup:
    """Return the configured capabilities of the folder `root`. Nothing is started. Paths in a file
    are relative to the file.

    Raises BadCapabilities with all problems of the file and of the folders that were named.
    """
    file = options.mcp_config or root / CAPABILITY_FILE
    missing = [folder for folder in options.skills_dirs if not folder.is_dir()]
    problems = tuple(f"There is no folder {folder} for --skills-dir." for folder in missing)
    try:
        configured = load_capability_file(file, named=options.mcp_config is not None)
    except BadCapabilities as error:
        raise BadCapabilities(error.message, details=(*error.details, *problems)) from None
    if problems:
        raise BadCapabilities(problems[0], details=problems[1:])
    folders = (
        *(folder.absolute() for folder in options.skills_dirs),
        *(file.absolute().parent / folder for folder in configured.skills_dirs),
        root / SKILLS,
    )
    return CapabilitySetup(
        root=file.absolute().parent,
        tree=tree or root,
        config=configured,
        policy=config.capabilities,
        config_name=file.name,
        skill_folders=folders,
        sandbox=config.sandbox,
        environ=server_environ(environ),
        repository=root,
        agreed=None if SERVER_VARIABLES in environ else agreed_digests(root),
    )


def agreed_digests(root: Path) -> frozenset[str]:
    """Return the digests of servers that this user said yes to in a repository, beside the user's
    other files: another clone needs its own yes, and no repository can bring one along.
    """
    try:
        return frozenset(_find_agreements(root).read_text(encoding="utf-8").split())
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def agree(root: Path, digest: str) -> None:
    """Keep a yes to the servers of a repository."""
    digests = sorted(agreed_digests(root) | {digest})
    write_whole(_find_agreements(root), "".join(f"{agreed}\n" for agreed in digests))


def _find_agreements(root: Path) -> Path:
    mark = hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return state_home() / "agreed-servers" / f"{root.resolve().name}-{mark}"


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
        """Return the uses among results, and the missing capabilities not reported yet."""
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
        return summed((), (*uses, *missing))


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


def describe_capability(entry: CapabilitySpec) -> Capability:
    """Return a capability as a menu shows it; one from outside without hidden text, and with the
    sentence that it changes something.
    """
    sample = _EXAMPLES.get(entry.name, {})
    unseen = [parameter for parameter in entry.parameters if parameter.name not in sample]
    free = [f"`{parameter.name}`" for parameter in unseen if not parameter.required]
    needed = "; ".join(
        f"`{parameter.name}` ({parameter.kind}): {parameter.description}"
        for parameter in unseen
        if parameter.required
    )
    is_ours = entry.kind is CapabilityType.PROVIDER
    sentences = [
        entry.description,
        _ACTS if entry.effect is Effect.ACTS and not is_ours else "",
        f"Needs {cut(needed, _NEEDED)}." if needed else "",
        f"Takes {', '.join(free)} too." if free and not is_ours else "",
    ]
    description = " ".join(filter(None, sentences))
    return Capability(
        name=entry.name,
        description=description if is_ours else clean(description).text,
        parameters=json.dumps(sample, ensure_ascii=False),
        kind=entry.kind.value,
    )
