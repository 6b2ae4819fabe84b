"""Prices a run of known tokens with the models of today."""

import re
from collections.abc import Mapping
from decimal import Decimal

from forge_bot.agent.prices import usual_price
from forge_bot.engine.pipeline import AnsweringPhase, Pipeline
from forge_bot.runs.estimate_evidence import Sample
from forge_bot.values import Tier, Usage

# Providers answer with the name they were asked for, or with a dated version of it.
_DATED = re.compile(r"[-@]\d{4}-?\d{2}-?\d{2}")


def cost_of(sample: Sample, pipeline: Pipeline, models: Mapping[Tier, str]) -> Decimal | None:
    """US dollars, or None if a price is unknown. What was paid to the model of a phase's tier
    counts; other tokens get its price.
    """
    tiers: dict[str, Tier] = {
        phase.id: phase.tier for phase in pipeline.phases if isinstance(phase, AnsweringPhase)
    }
    # What belongs to no phase is priced as the work of the strong model, which does most of it.
    costs = [_cost(used, models[tiers.get(phase, Tier.STRONG)]) for phase, used in sample]
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
