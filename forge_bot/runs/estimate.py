"""Estimates a run: tokens and money, from earlier runs like it or the recorded one that
ships.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from statistics import quantiles
from typing import TYPE_CHECKING, NamedTuple

from forge_bot.gate.arguments import Amount
from forge_bot.git import Repository
from forge_bot.resources import templates
from forge_bot.store.run_folder import STATE
from forge_bot.text_format import limits, several
from forge_bot.values import Effort, RunStatus, Tier, Usage

if TYPE_CHECKING:
    from forge_bot.engine.pipeline import Pipeline

RECORD = "demo/record.jsonl"
_RUNS_READ = 50
"""The newest runs; older ones say little about the models and prompts of today."""

ENOUGH = 5
"""Earlier runs that are evidence by themselves; with fewer the recorded run counts as one more."""

_CENT_OF_A_CENT = Decimal("0.0001")


class Spread(NamedTuple):
    """The values that half, and nine in ten, of such runs stay below."""

    p50: Decimal
    p90: Decimal


class Estimate(NamedTuple):
    """The expected usage before the first call: tokens in and out, and US dollars.

    `cost` is None if a price is unknown. `runs` counts earlier runs here.
    """

    effort: Effort
    tokens: Spread
    cost: Spread | None
    runs: int
    rests_on: str


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
    from forge_bot.agent.models.known_providers import BATCH_PRICE, offers_batches, usual_price

    batch = batch and any(map(offers_batches, models.values()))
    earlier = earlier_runs(repository, base, pipeline.id, effort)
    alone = len(earlier) >= ENOUGH
    samples = earlier if alone else (*earlier, shipped_run(pipeline, effort, models, auto=auto))
    costs = [cost for used in samples if (cost := used.cost) is not None]
    one = Usage(input_tokens=1)
    unknown = [name for name in dict.fromkeys(models.values()) if usual_price(name, one) is None]
    is_priced = len(costs) == len(samples)
    part = BATCH_PRICE if batch else Decimal(1)
    return Estimate(
        effort=effort,
        tokens=_spread([Decimal(used.tokens) for used in samples], Decimal(1)),
        cost=_spread([cost * part for cost in costs], _CENT_OF_A_CENT) if is_priced else None,
        runs=len(earlier),
        rests_on=_basis(len(earlier), effort, alone=alone)
        + ("" if is_priced else f"; the price of {', '.join(unknown)} is unknown, so only tokens")
        + ("; in batches, within a day each" if batch else ""),
    )


def earlier_runs(
    repository: Repository, base: str, pipeline: str, effort: Effort
) -> tuple[Usage, ...]:
    """Return what the finished runs of this pipeline and effort used that have ended, or whose
    state is in the commit `base`. Broken ones are left out, and those in batches, which paid half.
    """
    # Reads all runs, which who looks at an estimate needs not.
    from forge_bot.knowledge.history import past_files, past_folders, read_past_state

    newest = past_folders(repository, base)[-_RUNS_READ:]
    states = past_files(repository, newest, (STATE,)).values()
    runs = (read_past_state(files.get(STATE)) for files in states)
    return tuple(
        run.usage
        for run in runs
        if run is not None
        and run.current_phase_status is RunStatus.COMPLETED
        and (run.pipeline, run.effort) == (pipeline, effort)
        and run.usage.tokens
        and not run.flags.batch
    )


def shipped_run(
    pipeline: "Pipeline", effort: Effort, models: Mapping[Tier, str], *, auto: bool
) -> Usage:
    """Return what the recorded run used at this effort, in the phases that models write, at the
    prices of the models of their tiers.

    A phase that the record lacks counts as much as the recorded ones do on average.
    """
    from forge_bot.agent.models.known_providers import usual_price
    from forge_bot.agent.models.open_model import read_exchanges
    from forge_bot.engine.process_documents import written_by_models

    recorded: dict[str, Usage] = {}
    for exchange in read_exchanges(templates() / RECORD):
        recorded[exchange.phase] = recorded.get(exchange.phase, Usage()) + exchange.usage
    whole = sum(recorded.values(), Usage())
    kinds = ("input_tokens", "cached_tokens", "output_tokens")
    mean = Usage(**{kind: getattr(whole, kind) // len(recorded) for kind in kinds})
    asked = [
        (recorded.get(phase.id, mean), models[phase.tier])
        for phase in written_by_models(pipeline, effort, auto=auto)
    ]
    costs = [usual_price(model, usage) for usage, model in asked]
    known = [cost for cost in costs if cost is not None]
    whole = sum((usage for usage, _ in asked), Usage())
    return whole.replace(cost=sum(known, Decimal(0)) if len(known) == len(costs) else None)


def in_words(estimate: Estimate) -> str:
    """Return `$0.40 to $0.90`: half of such runs stay below the first figure, nine in ten below the
    second. Without a price the tokens.
    """
    if estimate.cost is not None and estimate.cost.p90:
        return _span(f"${estimate.cost.p50:.2f}", f"${estimate.cost.p90:.2f}")
    return f"{_span(f'{estimate.tokens.p50:,}', f'{estimate.tokens.p90:,}')} tokens"


def at_most(estimate: Estimate, budget: Amount) -> str:
    """Return where a run stops and asks, such as ` · stops to ask at $5.00`; empty without a limit
    that counts. US dollars do not limit models without a price.
    """
    counted = budget if estimate.cost is not None else replace(budget, dollars=None)
    return f" · stops to ask at {limits(counted)}" if counted else ""


def _spread(values: list[Decimal], step: Decimal) -> Spread:
    # Of one value there are no quantiles.
    tenths = quantiles(values if len(values) > 1 else values * 2, n=10, method="inclusive")
    return Spread(p50=tenths[4].quantize(step), p90=tenths[8].quantize(step))


def _basis(runs: int, effort: Effort, *, alone: bool) -> str:
    shipped = "the recorded run that ships, one small task"
    here = f"{several(runs, f'earlier {effort} run')} here"
    return f"from {here if alone else f'{here} and {shipped}' if runs else shipped}"


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
