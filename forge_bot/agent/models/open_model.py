"""Open a model by its name: `provider:model`, `scripted:FILE` or `replay:FILE`."""

from collections.abc import Mapping
from pathlib import Path

from forge_bot.agent.models.base import Model
from forge_bot.agent.models.provider import ProviderModel, ProviderSettings, open_provider
from forge_bot.agent.models.recorded import Recorder, Replayed
from forge_bot.values import Tier


def open_model(
    spec: str, settings: ProviderSettings | None = None, *, record: Path | None = None
) -> Model:
    """Return the model with that name. With `record`, its exchanges are appended to that file.

    Raises UnknownModel, NoModelKey or BadRecord, before anything is sent.
    """
    scheme, _, rest = spec.strip().partition(":")
    model: Model = (
        Replayed(f"{scheme}:{rest}")
        if scheme in {"scripted", "replay"}
        else open_provider(spec.strip(), settings or ProviderSettings())
    )
    return Recorder(model, record) if record else model


def open_tiers(
    specs: Mapping[Tier, str],
    settings: ProviderSettings | None = None,
    *,
    record: Path | None = None,
) -> dict[Tier, Model]:
    """Return a model for every named tier. Tiers with the same name share one model."""
    opened: dict[str, Model] = {}
    for spec in specs.values():
        if spec not in opened:
            opened[spec] = open_model(spec, settings, record=record)
    return {tier: opened[spec] for tier, spec in specs.items()}


async def check_keys(models: Mapping[Tier, Model]) -> None:
    """Ask each provider once, before anything is installed, whether its key is accepted.

    Raises KeyRefused.
    """
    for model in {model for model in models.values() if isinstance(model, ProviderModel)}:
        await model.check_key()
