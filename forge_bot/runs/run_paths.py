"""The paths of a run's files outside git, and how those in JSON are read."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from forge_bot.git import Repository
from forge_bot.settings import state_home
from forge_bot.store import write_whole
from forge_bot.values import Frozen

_MARK = "forge-bot/state-folder"


class RunPaths(Frozen):
    """Folders and files of one run outside its branch."""

    home: Path
    tree: Path
    tasks: Path
    environment: Path
    compiled: Path
    judged: Path
    journal: Path
    lock: Path
    git: Path

    @property
    def written(self) -> tuple[Path, ...]:
        """Folders on the disks that a run needs room on."""
        return (self.home, self.git)


def run_paths(repository: Repository, run: str) -> RunPaths:
    """The places of a run: under the user's state folder, apart from those of other repositories;
    the lock beside git's data.
    """
    return _places(repository.common_dir, state_home(), run)


def remember_state_folder(repository: Repository) -> None:
    """Write down the names of the folders of this repository's runs, so that they are found where
    it is moved.
    """
    common = repository.common_dir
    write_whole(common / _MARK, f"{_mark(common)} {common}\n")


@lru_cache(maxsize=64)
def _places(common: Path, state: Path, run: str) -> RunPaths:
    return paths_in(state / f"{run}-{_mark(common)}", common, run)


def _mark(common: Path) -> str:
    """Return what tells the folders of this repository's runs from those of others: a digest of the
    path where it first had a run. A copy, beside which the original stands, has its own.
    """
    try:
        mark, _, path = (common / _MARK).read_text(encoding="utf-8").rstrip("\n").partition(" ")
    except (OSError, UnicodeDecodeError):
        mark = path = ""
    if mark and (Path(path) == common or not Path(path).exists()):
        return mark
    return hashlib.sha256(str(common).encode("utf-8", "surrogateescape")).hexdigest()[:8]


def paths_in(home: Path, common: Path, run: str) -> RunPaths:
    """Return the paths of a run whose folder outside git is `home`."""
    return RunPaths(
        home=home,
        tree=home / "tree",
        tasks=home / "tasks",
        environment=home / "environment",
        compiled=home / "go-build",
        judged=home / "judged",
        journal=home / "journal.jsonl",
        lock=common / "forge-bot" / f"{run}.lock",
        git=common,
    )


_Model = TypeVar("_Model", bound=BaseModel)


def read_kept(file: Path, model: type[_Model]) -> _Model | None:
    """Return the value in a file of JSON; None where there is none, or it is broken."""
    try:
        return model.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None
