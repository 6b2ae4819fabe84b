"""Price a run of known tokens with the current models."""

import re
from collections.abc import Mapping
from decimal import Decimal

from forge_bot.agent.prices import BATCH_PRICE, offers_batches, usual_price
from forge_bot.engine.phases import AnsweringPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.runs.estimate_evidence import Sample
from forge_bot.values import PhaseId, Tier, Usage

# Providers answer with the name they were asked for, or with a dated version of it.
_DATED = re.compile(r"[-@]\d{4}-?\d{2}-?\d{2}")


def cost_of(
    sample: Sample, pipeline: Pipeline, models: Mapping[Tier, str], *, batch: bool = False
) -> Decimal | None:
    """US dollars, or None if a price is unknown. What was paid to the model of a phase's tier
    counts; other tokens get its price, and those of a batch half of it.
    """
    asked = {phase.id: phase for phase in pipeline.phases if isinstance(phase, AnsweringPhase)}
    costs = list[Decimal | None]()
    for name, used in sample:
        phase = asked.get(PhaseId(name))
        # What belongs to no phase is priced as the work of the strong model, which does most of it.
        model = models[phase.tier if phase is not None else Tier.STRONG]
        alone = phase is not None and phase.batch
        # What an earlier run paid for a phase that is asked in batches by itself is half already.
        cost = usual_price(model, used) if alone else _cost(used, model)
        batched = (batch or alone) and offers_batches(model)
        costs.append(cost * BATCH_PRICE if batched and cost is not None else cost)
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def unpriced(models: Mapping[Tier, str]) -> tuple[str, ...]:
    """Those of the models whose price is unknown."""
    one = Usage(input_tokens=1)
    return tuple(name for name in dict.fromkeys(models.values()) if usual_price(name, one) is None)


def _cost(used: Usage, model: str) -> Decimal | None:
    if used.cost is not None and _same(used.model, model):
        return used.cost
    return usual_price(model, used)


def _same(answered: str, asked: str) -> bool:
    name = asked.removeprefix("gateway/").partition(":")[2]
    return answered.startswith(name) and (
        answered == name or _DATED.fullmatch(answered, len(name)) is not None
    )
