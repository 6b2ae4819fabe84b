"""The profile of a commit: its commands and habits, made once in a process."""

from pathlib import Path

from forge_bot.git import Repository
from forge_bot.knowledge.profile import Profile, read_profile
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
