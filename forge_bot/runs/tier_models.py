"""The models of a run, opened when the first of them is asked."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge_bot.agent.models.known_providers import missing_key
from forge_bot.errors import NoModelKey, WriteFailed
from forge_bot.git import Repository
from forge_bot.runs.run_paths import run_paths
from forge_bot.settings import Config
from forge_bot.store import write_whole
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import Model


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


class TierModels:
    """Opens the models once, when they are first called for. Who calls for them early learns early
    that a key is missing.
    """

    def __init__(
        self, config: Config, model: str | None = None, record: Path | None = None
    ) -> None:
        self._config = config
        self._record = record
        self._specs = {tier: model or config.model_for(tier) for tier in Tier}
        self._opened: dict[Tier, Model] = {}

    def missing_key(self) -> NoModelKey | None:
        """Return the error for a key that is not set. It takes nothing of what opens a model."""
        errors = (missing_key(spec) for spec in dict.fromkeys(self._specs.values()))
        return next(filter(None, errors), None)

    def __call__(self) -> "Mapping[Tier, Model]":
        """Return the models. Raises NoModelKey, and what opening one raises."""
        if (missing := self.missing_key()) is not None:
            raise missing
        from forge_bot.agent.models.open_model import open_tiers
        from forge_bot.agent.models.provider import ProviderSettings

        if not self._opened:
            settings = ProviderSettings(
                seconds=self._config.model_timeout_seconds,
                retries=self._config.model_retries,
                output=self._config.model_output,
            )
            self._opened.update(open_tiers(self._specs, settings, record=self._record))
        return self._opened
