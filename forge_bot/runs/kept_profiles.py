"""The profiles of trees, made once and kept beside git's own data.

What is kept is derived from a tree and the configured commands, and named by both. It may be
deleted at any time; where it is broken, of another version or cannot be written, a profile is made
anew.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from forge_bot import __version__
from forge_bot.errors import WriteFailed
from forge_bot.git import Repository
from forge_bot.knowledge import Profile, read_profile
from forge_bot.settings import Config
from forge_bot.store import write_whole
from forge_bot.values import Frozen

MOST_KEPT = 8
_FORM = 1
"""The number of the form of the file. It grows when profiles are read differently."""


class _Kept(Frozen):
    form: int
    version: str
    profiles: dict[str, Profile]


_known: dict[tuple[Path, str], Profile] = {}


def profile_at(repository: Repository, commit: str, config: Config, scope: str = "") -> Profile:
    """Return the repository's profile at a commit, with the commands that the configuration
    sets; of one folder alone where `scope` names it.
    """
    tree, projects = repository.tree_id(commit), _of_projects(config)
    words = json.dumps([config.commands.overrides(), projects, scope], sort_keys=True).encode()
    key = (kept_in(repository), f"{tree}-{hashlib.sha256(words).hexdigest()[:16]}")
    if key not in _known:
        if len(_known) >= MOST_KEPT:
            _known.clear()
        _known[key] = _kept_or_made(*key, lambda: _made(repository, commit, tree, config, scope))
    return _known[key]


def kept_in(repository: Repository) -> Path:
    """Return the file of the kept profiles; all work trees of a clone share it."""
    return repository.common_dir / "forge-bot" / "profiles.json"


def _kept_or_made(file: Path, name: str, make: Callable[[], Profile]) -> Profile:
    known = _kept(file)
    if name in known:
        return known[name]
    profile = make()
    # The newest stand last.
    profiles = dict([*known.items(), (name, profile)][-MOST_KEPT:])
    kept = _Kept(form=_FORM, version=__version__, profiles=profiles)
    with suppress(WriteFailed):
        write_whole(file, kept.model_dump_json())
    return profile


def _kept(file: Path) -> dict[str, Profile]:
    try:
        found = _Kept.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return {}
    return found.profiles if (found.form, found.version) == (_FORM, __version__) else {}


def _of_projects(config: Config) -> dict[str, dict[str, tuple[tuple[str, ...], ...]]]:
    return {folder: commands.overrides() for folder, commands in config.projects.items()}


def _made(repository: Repository, commit: str, tree: str, config: Config, scope: str) -> Profile:
    reader = repository.objects_by_id()

    def read(path: str) -> str | None:
        found = reader.one(f"{tree}:{path}") if "\n" not in path else None
        # A partial clone fetches the few files that a profile is made from.
        raw = found.data if found is not None else repository.read(commit, path)
        return raw.decode("utf-8", "replace") if raw is not None else None

    files, overrides = repository.list_files(commit), config.commands.overrides()
    return read_profile(files, read, overrides, _of_projects(config), scope)
