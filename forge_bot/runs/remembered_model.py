"""The model that a person named for a run, remembered on this machine for the run's commands."""

import os
from contextlib import suppress

from forge_bot.errors import WriteFailed
from forge_bot.git import Repository
from forge_bot.runs.run_paths import run_paths
from forge_bot.store import write_whole

_FILE = "model"


def keep_model(repository: Repository, run: str, model: str | None) -> None:
    """Remember the model of a run beside its journal."""
    if model:
        with suppress(WriteFailed):
            write_whole(run_paths(repository, run).home / _FILE, f"{model}\n")


def kept_model(repository: Repository, run: str) -> str | None:
    """Return the model that was named for a run here; None where $FORGE_BOT_MODEL names one."""
    if os.environ.get("FORGE_BOT_MODEL", "").strip():
        return None
    with suppress(OSError, UnicodeDecodeError):
        return (run_paths(repository, run).home / _FILE).read_text(encoding="utf-8").strip() or None
    return None
