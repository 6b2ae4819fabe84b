"""Estimates a run: tokens, money and time, from earlier runs like it or the recorded
one that ships.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from statistics import quantiles
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import Field

from forge_bot.errors import WriteFailed
from forge_bot.gate.arguments import Amount
from forge_bot.git import Repository
from forge_bot.runs.run_paths import read_kept, run_paths
from forge_bot.store import write_whole
from forge_bot.text_format import limits, several
from forge_bot.values import Effort, Recorded, Tier, Usage, is_empty

if TYPE_CHECKING:
    from forge_bot.engine.pipeline import Pipeline
    from forge_bot.runs.past_runs.estimate_evidence import Sample

ENOUGH = 5
"""Earlier runs that are evidence by themselves; with fewer the recorded run counts as one more."""

_FILE = "estimate.json"
_MINUTE = Decimal(60_000)
_CENT_OF_A_CENT, _TENTH = Decimal("0.0001"), Decimal("0.1")

Number = TypeVar("Number", int, float, Decimal)


class Spread(Recorded, Generic[Number]):
    """The values that half, and nine in ten, of such runs stay below."""

    p50: Number
    p90: Number


class Estimate(Recorded):
    """The expected usage before the first call: tokens in and out, US dollars, and minutes of the
    models' work, without people and project commands.

    `cost` is None if a price is unknown, `minutes` if no evidence has times. `runs` counts earlier
    runs here. `shares` is the part of the tokens that each phase used, if it is known.
    """

    effort: Effort
    tokens: Spread[int]
    cost: Spread[Decimal] | None
    minutes: Spread[float] | None
    runs: int
    rests_on: str
    shares: dict[str, float] = Field(default_factory=dict[str, float], exclude_if=is_empty)

    def exceeds(self, budget: Decimal | None) -> bool:
        """Return whether half of such runs cost more than this budget."""
        return budget is not None and self.cost is not None and self.cost.p50 > budget


def estimate(
    repository: Repository,
    base: str,
    pipeline: "Pipeline",
    effort: Effort,
    models: Mapping[Tier, str],
    *,
    auto: bool = False,
    batch: bool = False,
) -> Estimate:
    """Return the estimate for a run of this pipeline and effort from the commit `base`; nothing is
    written.

    `models` has one for each tier. With `batch` models are asked in batches: at half the price, and
    for an unknown time.
    """
    # Reads runs and prices, which who looks at an estimate needs not.
    from forge_bot.agent.prices import offers_batches
    from forge_bot.runs.past_runs.estimate_evidence import (
        cost_of,
        earlier_runs,
        shipped_run,
        unpriced,
    )

    at_once = without_batches(models) if batch else ""
    batch = batch and any(map(offers_batches, models.values()))
    earlier = earlier_runs(repository, base, pipeline.id, effort)
    alone = len(earlier) >= ENOUGH
    samples = earlier if alone else (*earlier, shipped_run(pipeline, effort, auto=auto))
    priced = (cost_of(sample, pipeline, models, batch=batch) for sample in samples)
    costs = [cost for cost in priced if cost is not None]
    unknown = unpriced(models) if len(costs) < len(samples) else ()
    tokens = _spread([_tokens(sample) for sample in samples], Decimal(1))
    cost = _spread(costs, _CENT_OF_A_CENT) if len(costs) == len(samples) else None
    return Estimate(
        effort=effort,
        tokens=Spread(p50=int(tokens.p50), p90=int(tokens.p90)),
        cost=cost,
        minutes=_working_times(samples) if not batch else None,
        runs=len(earlier),
        rests_on=_basis(len(earlier), effort, alone=alone)
        + _pricing(models, unknown, alone=alone)
        + ("; in batches, within a day each" if batch else "")
        + (f"; {at_once}" if at_once else ""),
        shares=_shares(samples),
    )


def _working_times(samples: Sequence["Sample"]) -> Spread[float] | None:
    totals = [sum(used.duration_ms for _, used in sample) for sample in samples]
    times = [Decimal(total) / _MINUTE for total in totals if total]
    if not times:
        return None
    minutes = _spread(times, _TENTH)
    return Spread(p50=float(minutes.p50), p90=float(minutes.p90))


def without_batches(models: Mapping[Tier, str]) -> str:
    """Return which models have no batches, though batches are wished for; empty for none."""
    from forge_bot.agent.prices import offers_batches

    live = [name for name in dict.fromkeys(models.values()) if not offers_batches(name)]
    offers = "offers" if len(live) == 1 else "offer"
    sentence = "{live} {offers} no batches: asked at once, at the usual price".format(
        live=" and ".join(live), offers=offers
    )
    return sentence if live else ""


def keep_estimate(repository: Repository, run: str, estimate: Estimate) -> None:
    """Store the estimate of a run beside its journal. It is about this machine's models, so it is
    not part of the record.
    """
    # Nobody's work depends on it.
    with suppress(WriteFailed):
        write_whole(
            run_paths(repository, run).home / _FILE, estimate.model_dump_json(indent=2) + "\n"
        )


def kept_estimate(repository: Repository, run: str) -> Estimate | None:
    """Return the estimate made before a run; None if it was begun elsewhere, or the file is gone or
    broken.
    """
    return read_kept(run_paths(repository, run).home / _FILE, Estimate)


def in_words(estimate: Estimate) -> str:
    """`8 to 15 minutes of models at work, $0.40 to $0.90`: half of such runs stay below the first
    figures, nine in ten below the second.
    """
    parts: list[str] = []
    if estimate.minutes is not None:
        parts.append(
            f"{_span(_minutes(estimate.minutes.p50), _minutes(estimate.minutes.p90))} minutes of "
            "models at work"
        )
    if estimate.cost is not None:
        parts.append(_span(f"${estimate.cost.p50:.2f}", f"${estimate.cost.p90:.2f}"))
    else:
        parts.append(f"{_span(f'{estimate.tokens.p50:,}', f'{estimate.tokens.p90:,}')} tokens")
    return ", ".join(parts)


def at_most(estimate: Estimate, budget: Amount) -> str:
    """Return where a run stops and asks, such as ` · stops to ask at $5.00`; empty without a limit
    that counts. US dollars do not limit models without a price.
    """
    counted = budget if estimate.cost is not None else replace(budget, dollars=None)
    return f" · stops to ask at {limits(counted)}" if counted else ""


def still_to_come(estimate: Estimate, used: Usage, over: Collection[str] = ()) -> str:
    """Return the rest of an estimate, such as `$0.40 to $0.90`: the phases that are not `over`.

    If the phases of earlier runs are unknown it is the unused part of the whole, and empty once
    nine of ten such runs used less.
    """
    if estimate.shares:
        rest = sum(share for phase, share in estimate.shares.items() if phase not in over)
        if estimate.cost is not None and estimate.cost.p90:
            costs = [cost * Decimal(rest) for cost in (estimate.cost.p50, estimate.cost.p90)]
            return _span(f"${costs[0]:.2f}", f"${costs[1]:.2f}") if costs[1] else ""
        parts = [round(tokens * rest) for tokens in (estimate.tokens.p50, estimate.tokens.p90)]
        return f"{_span(f'{parts[0]:,}', f'{parts[1]:,}')} tokens" if parts[1] else ""
    if estimate.cost is not None and used.cost is not None:
        spans = [
            max(Decimal(0), cost - used.cost) for cost in (estimate.cost.p50, estimate.cost.p90)
        ]
        return _span(f"${spans[0]:.2f}", f"${spans[1]:.2f}") if spans[1] else ""
    so_far = used.input_tokens + used.output_tokens
    left = [max(0, tokens - so_far) for tokens in (estimate.tokens.p50, estimate.tokens.p90)]
    return f"{_span(f'{left[0]:,}', f'{left[1]:,}')} tokens" if left[1] else ""


def _shares(samples: Sequence["Sample"]) -> dict[str, float]:
    """Return the share of the tokens that each phase used, over the runs that have it."""
    used: Counter[str] = Counter()
    for sample in samples:
        if all(phase for phase, _ in sample):
            for phase, usage in sample:
                used[phase] += usage.input_tokens + usage.output_tokens
    whole = used.total()
    return {phase: round(tokens / whole, 4) for phase, tokens in used.items() if whole}


def _tokens(sample: "Sample") -> Decimal:
    return Decimal(sum(used.input_tokens + used.output_tokens for _, used in sample))


def _spread(values: list[Decimal], step: Decimal) -> Spread[Decimal]:
    # Of one value there are no quantiles.
    tenths = quantiles(values if len(values) > 1 else values * 2, n=10, method="inclusive")
    return Spread(p50=tenths[4].quantize(step), p90=tenths[8].quantize(step))


def _basis(runs: int, effort: Effort, *, alone: bool) -> str:
    here = f"{several(runs, f'earlier {effort} run')} here"
    if alone:
        return f"from {here}"
    return (
        f"from {here} and the recorded run that ships, one small task"
        if runs
        else "from the recorded run that ships, one small task"
    )


def _pricing(models: Mapping[Tier, str], unknown: tuple[str, ...], *, alone: bool) -> str:
    if unknown:
        return "; the price of {unknown} is unknown, so only tokens".format(
            unknown=", ".join(unknown)
        )
    if alone:
        return ""
    return (
        "; at this model's price"
        if len(set(models.values())) == 1
        else "; at the prices of these models"
    )


def _minutes(value: float) -> str:
    return str(max(1, round(Decimal(str(value)))))


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
