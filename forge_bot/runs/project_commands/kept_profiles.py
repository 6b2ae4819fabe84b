"""The profiles of trees, made once and kept beside git's own data, named by the tree and the
configured commands.
"""

import json
from pathlib import Path

from pydantic import TypeAdapter

from forge_bot.git import Repository
from forge_bot.knowledge.profile import Profile, read_profile
from forge_bot.settings import Config
from forge_bot.store.kept_files import KeptFile

MOST_KEPT = 8
_FORM = 3
"""The number of the way in which profiles are read. It grows when that changes."""

_PROFILES = TypeAdapter(Profile)
_known: dict[tuple[Path, str], Profile] = {}


def profile_at(repository: Repository, commit: str, config: Config, scope: str = "") -> Profile:
    """Return the repository's profile at a commit, with the commands that the configuration
    sets; of one folder alone where `scope` names it.
    """
    tree, projects = repository.tree_id(commit), config.overrides_by_project()
    parts = [_FORM, tree, config.commands.overrides(), projects, scope]
    key = (repository.kept, json.dumps(parts, sort_keys=True))
    if key not in _known:
        if len(_known) >= MOST_KEPT:
            _known.clear()
        file = KeptFile(repository.kept, "profile", key[1], _PROFILES, MOST_KEPT)
        profile = file.read()
        if profile is None:
            profile = _made(repository, commit, tree, config, scope)
            file.write(profile)
        _known[key] = profile
    return _known[key]


def _made(repository: Repository, commit: str, tree: str, config: Config, scope: str) -> Profile:
    reader = repository.objects_by_id()

    def read(path: str) -> str | None:
        found = reader.one(f"{tree}:{path}") if "\n" not in path else None
        # A partial clone fetches the few files that a profile is made from.
        raw = found.data if found is not None else repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None else None

    files, overrides = repository.list_files(commit), config.commands.overrides()
    return read_profile(files, read, overrides, config.overrides_by_project(), scope)
