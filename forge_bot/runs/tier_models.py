"""The models of a run, opened when the first of them is asked."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forge_bot.agent.models.provider_keys import missing_key
from forge_bot.settings import Config
from forge_bot.values import Tier

if TYPE_CHECKING:
    from forge_bot.agent.models.base import Model


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
