"""The capabilities configured for a repository, from the files and options that say so."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from forge_bot.agent.tools.setup import SERVER_VARIABLES, TREE, CapabilitySetup, texts_of
from forge_bot.errors import BadCapabilities
from forge_bot.git import Repository
from forge_bot.resources import state_home
from forge_bot.runs.run_files import read_kept, run_paths
from forge_bot.settings import Config
from forge_bot.settings.capability_file import (
    CAPABILITY_FILE,
    SKILLS,
    MCPServerConfig,
    load_capability_file,
)
from forge_bot.store import write_whole
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from forge_bot.runs.run import Run

_FILE = "capability-options.json"
_BASE = "base-files"


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


def setup_of(run: "Run", environ: Mapping[str, str] = os.environ) -> CapabilitySetup:
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
