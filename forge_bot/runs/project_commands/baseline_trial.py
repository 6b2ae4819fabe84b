"""Run the project's commands once outside of a run, at the commit that is checked out. Nothing is
recorded; the first run takes over what was installed, and what the commands said.
"""

from forge_bot.git import Repository, Tree
from forge_bot.knowledge.profile import Profile
from forge_bot.runs.notifications import Notify
from forge_bot.runs.project_commands.baseline_document import tell_of_red
from forge_bot.runs.project_commands.installation import Foundation
from forge_bot.runs.project_commands.project import Project
from forge_bot.settings import Config
from forge_bot.verification.judgement import said_before
from forge_bot.verification.unusable_commands import unusable


def try_baseline(
    repository: Repository, config: Config, profile: Profile, tell: Notify
) -> tuple[str, ...]:
    """Return a sentence for each of setup, build, tests and linters without a usable result. Raises
    NoSandbox, SetupNotWalled, GitFailed.
    """
    tree, foundation = (
        Tree(repository.root),
        Foundation(repository.head().commit, tuple[bytes, ...]),
    )
    project = Project(repository, tree, config, profile, tell, foundation)
    prepared = project.set_up()
    ready = all(result.exit_code == 0 for result in prepared)
    outputs = project.check(lambda _: False) if ready else ()
    results = (*prepared, *(output.result for output in outputs))
    if not (without_use := unusable(results)):
        tell_of_red(results, project.left_behind(results), tell)
    return tuple(said_before(command) for command in without_use)
