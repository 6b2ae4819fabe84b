"""The capabilities configured for a repository, from the files and options that say so."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from forge_bot.agent.tools.placeholders import SERVER_VARIABLES
from forge_bot.agent.tools.setup import CapabilitySetup
from forge_bot.errors import BadCapabilities
from forge_bot.git import Repository
from forge_bot.runs.run_paths import read_kept, run_paths
from forge_bot.sentences import say
from forge_bot.settings import Config
from forge_bot.settings.capability_file import (
    CAPABILITY_FILE,
    SKILLS,
    load_capability_file,
)
from forge_bot.store import write_whole
from forge_bot.values import Frozen

if TYPE_CHECKING:
    from forge_bot.runs.run import Run

_FILE = "capability-options.json"


class CapabilityOptions(Frozen):
    """The files and folders that a person named for a run, by their whole paths."""

    mcp_config: Path | None = None
    skills_dirs: tuple[Path, ...] = ()

    @classmethod
    def named(cls, mcp_config: Path | None, skills_dirs: Sequence[Path] | None) -> Self:
        """Return the options for names that count from the folder the process is in."""
        return cls(
            mcp_config=mcp_config and mcp_config.absolute(),
            skills_dirs=tuple(each.absolute() for each in skills_dirs or ()),
        )


NOTHING_NAMED = CapabilityOptions()


def keep_options(repository: Repository, run: str, options: CapabilityOptions) -> None:
    """Remember the options of a run on this machine, for the run's later commands."""
    if options != NOTHING_NAMED:
        write_whole(run_paths(repository, run).home / _FILE, options.model_dump_json())


def setup_of(run: "Run", environ: Mapping[str, str] = os.environ) -> CapabilitySetup:
    """Return the configured capabilities of a run. Raises BadCapabilities."""
    options = read_kept(run.places.home / _FILE, CapabilityOptions) or NOTHING_NAMED
    return capability_setup(
        run.repository.root, run.config, options, tree=run.tree.path, environ=environ
    )


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

    Raises BadCapabilities with all problems of the file.
    """
    file = options.mcp_config or root / CAPABILITY_FILE
    configured = load_capability_file(file, named=options.mcp_config is not None)
    for folder in options.skills_dirs:
        if not folder.is_dir():
            raise BadCapabilities(say("runs.capability_setup.no_folder", folder=folder))
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
    )
