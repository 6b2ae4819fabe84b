"""The models of a run, opened when the first of them is asked."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge_bot.agent.models.provider_keys import missing_key
from forge_bot.errors import WriteFailed
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


def models_for(
    config: Config, model: str | None = None, record: Path | None = None
) -> Callable[[], "Mapping[Tier, Model]"]:
    """Return a function that opens the models once, when first needed; or open them now, to learn
    early that a key is missing.
    """
    opened: dict[Tier, Model] = {}

    def open_them() -> "Mapping[Tier, Model]":
        specs = {tier: model or config.model_for(tier) for tier in Tier}
        # To say so takes nothing of what opens a model.
        for spec in dict.fromkeys(specs.values()):
            if (missing := missing_key(spec)) is not None:
                raise missing
        from forge_bot.agent.models.open_model import open_tiers
        from forge_bot.agent.models.provider import ProviderSettings

        if not opened:
            settings = ProviderSettings(
                seconds=config.model_timeout_seconds,
                retries=config.model_retries,
                output=config.model_output,
            )
            opened.update(open_tiers(specs, settings, record=record))
        return opened

    return open_them
