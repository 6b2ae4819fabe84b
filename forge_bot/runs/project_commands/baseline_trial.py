"""Run the project's commands once outside of a run, at the commit that is checked out. Nothing is
recorded, and files that they leave are removed.
"""

import shutil
from uuid import uuid4

from forge_bot.git import Repository
from forge_bot.knowledge.profile import Profile
from forge_bot.runs.notifications import Notify
from forge_bot.runs.project_commands.baseline_document import tell_of_red
from forge_bot.runs.project_commands.installation import Foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.runs.run_paths import run_paths
from forge_bot.settings import Config
from forge_bot.verification.judgement import said_before
from forge_bot.verification.unusable_commands import unusable


def try_baseline(
    repository: Repository, config: Config, profile: Profile, tell: Notify
) -> tuple[str, ...]:
    """Return a sentence for each of setup, build, tests and linters without a usable result. Raises
    NoSandbox, SetupNotWalled, GitFailed.
    """
    commit = repository.head().commit
    places = run_paths(repository, f"baseline-{uuid4().hex[:12]}")
    tree = repository.detached_tree(places.tree, commit)
    try:
        foundation = Foundation(commit, tuple[bytes, ...])
        project = Project(repository, tree, places, config, profile, tell, foundation)
        prepared = project.set_up()
        ready = all(result.exit_code == 0 for result in prepared)
        results = (*prepared, *(project.check() if ready else ()))
        left_behind = project.left_behind(results)
    finally:
        for place in (places.judged, places.tree):
            repository.remove_tree(place)
        shutil.rmtree(places.home, ignore_errors=True)
    if not (found := unusable(results)):
        tell_of_red(results, left_behind, tell)
    return tuple(said_before(each) for each in found)
