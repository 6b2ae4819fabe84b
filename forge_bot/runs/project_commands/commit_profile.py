"""The profile of a commit, its commands and habits, made once in a process; and what a run needs of
it before it begins: a way to test, and consent to a setup that is not held to the proxy.
"""

from pathlib import Path

from forge_bot.errors import NoTestCommand
from forge_bot.git import Repository
from forge_bot.knowledge.profile import Profile, read_profile
from forge_bot.sandbox.box import BackendName
from forge_bot.settings import Config

_known: dict[tuple[Path, str, str, str], Profile] = {}


def profile_at(repository: Repository, commit: str, config: Config, scope: str = "") -> Profile:
    """Return the repository's profile at a commit, with the commands that the configuration
    sets; of one folder alone where `scope` names it.
    """
    settings = config.model_dump_json(include={"commands", "projects"})
    key = (repository.common_dir, repository.tree_id(commit), settings, scope)
    if key not in _known:
        _known[key] = _make_profile(repository, commit, config, scope)
    return _known[key]


def _make_profile(repository: Repository, commit: str, config: Config, scope: str) -> Profile:
    def read(path: str) -> str | None:
        raw = repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None else None

    files, overrides = repository.list_files(commit), config.commands.overrides()
    return read_profile(files, read, overrides, config.overrides_by_project(), scope)


SETUP_NOT_WALLED = "runs.run_needs.setup_not_walled"
"""The name of the sentence for a setup that the proxy cannot hold."""


def waits_for_consent(backend: BackendName, config: Config) -> bool:
    """Return whether setup could bypass the proxy in this sandbox, without anybody's consent."""
    return backend is BackendName.LANDLOCK and not config.setup_without_namespace


def check_testable(profile: Profile, config: Config) -> None:
    """Raise NoTestCommand if nothing could be verified and the configuration does not say that this
    is intended.
    """
    if not profile.commands.test and config.commands.test is None:
        raise NoTestCommand(
            "No way to run tests was found in this repository.", details=profile.notes
        )
