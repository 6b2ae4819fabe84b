"""A project in a folder, as a run at a commit of it sees it."""

from pathlib import Path

import pytest

from forge_bot.git import Repository, Tree
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.project_commands.installation import Foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run_paths import run_paths
from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.settings import load_config

_WALLS = (BackendName.BUBBLEWRAP, BackendName.LANDLOCK)
_WORKING = next((wall for wall in _WALLS if not failure_reason(wall)), _WALLS[0])
WALLS = [pytest.param(wall, marks=() if wall == _WORKING else pytest.mark.slow) for wall in _WALLS]
"""What forge-bot does beside the wall is the same behind each: the first line tries it behind one."""


def project_in(folder: Path, *approved: bytes, base: str = "HEAD", apart: bool = False) -> Project:
    """The project of a run from a commit on, with patches of its setup that a person approved; with
    `apart` in a work tree of the run's own.
    """
    repository = Repository.find(folder)
    config, commit = load_config(repository.root), repository.commit_id(base)
    places = run_paths(repository, "demo")
    if apart and not places.tree.exists():
        repository.detached_tree(places.tree, commit)
    return Project(
        repository,
        Tree(places.tree if apart else folder),
        places,
        config,
        profile_at(repository, commit, config),
        lambda _notice: None,
        Foundation(commit, lambda: approved),
    )
