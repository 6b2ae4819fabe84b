"""A project in a folder, as a run at a commit of it sees it."""

from pathlib import Path

import pytest

from forge_bot.git import Repository, Tree
from forge_bot.runs.project_commands.commit_profile import profile_at
from forge_bot.runs.project_commands.installation import Foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.sandbox.backends import failure_reason
from forge_bot.sandbox.box import BackendName
from forge_bot.settings import load_config
from forge_bot.values import CommandResult

_WALLS = (BackendName.BUBBLEWRAP, BackendName.LANDLOCK)
_WORKING = next((wall for wall in _WALLS if not failure_reason(wall)), _WALLS[0])
WALLS = [pytest.param(wall, marks=() if wall == _WORKING else pytest.mark.slow) for wall in _WALLS]
"""What forge-bot does beside the wall is the same behind each: the first line tries it behind one."""


def project_in(folder: Path, *approved: bytes, base: str = "HEAD") -> Project:
    """The project of a run from a commit on, with patches of its setup that a person approved."""
    repository = Repository.find(folder)
    config, commit = load_config(repository.root), repository.commit_id(base)
    return Project(
        repository,
        Tree(folder),
        config,
        profile_at(repository, commit, config),
        lambda _notice: None,
        Foundation(commit, lambda: approved),
    )


def checked(project: Project) -> list[CommandResult]:
    """The results of the commands, run for this judgement."""
    return [output.result for output in project.check(lambda _: False)]


def judged_in(project: Project) -> Path:
    """The tree in which commands judged last."""
    with project.trial(project.tree.commit_id()) as place:
        return place.path
