"""A person's preferences for new runs of this clone, kept beside git's own data."""

from pathlib import Path

from forge_bot.git import Repository
from forge_bot.runs.run_paths import read_kept
from forge_bot.store import write_whole
from forge_bot.values import Effort, Frozen


class Preferences(Frozen):
    """Flags that are on unless a run says otherwise; they switch on only."""

    auto: bool = False
    nopr: bool = False
    debug: bool = False
    discuss: bool = False
    effort: Effort | None = None


def preferences(repository: Repository) -> Preferences:
    """Return the saved preferences; empty if the file is missing or broken."""
    return read_kept(_file(repository), Preferences) or Preferences()


def set_preferences(repository: Repository, wanted: Preferences) -> None:
    """Replace all of them. Raises WriteFailed."""
    write_whole(_file(repository), wanted.model_dump_json(indent=2, exclude_defaults=True) + "\n")


def _file(repository: Repository) -> Path:
    return repository.kept / "preferences.json"
