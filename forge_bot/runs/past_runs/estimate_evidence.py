"""The evidence for an estimate: the use of finished runs by phase, from here and from the record
that ships, and what their tokens cost with the current models.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from forge_bot.agent.models.recorded import read_exchanges
from forge_bot.agent.prices import BATCH_PRICE, offers_batches, usual_price
from forge_bot.engine.phases import AnsweringPhase
from forge_bot.engine.pipeline import Pipeline
from forge_bot.engine.process_documents import written_by_models
from forge_bot.git import Repository
from forge_bot.knowledge.past_runs import PastState, read_past_state
from forge_bot.resources import templates
from forge_bot.runs.past_runs.past_run_reader import past_files, past_folders
from forge_bot.store.run_folder import STATE
from forge_bot.values import Effort, PhaseId, RunStatus, Tier, Usage

Sample = tuple[tuple[str, Usage], ...]
"""One run: its usage by phase. A phase may occur several times; an empty name means the whole run.
"""

RECORD = "demo/record.jsonl"
_RUNS_READ = 50
"""The newest runs; older ones say little about the models and prompts of today."""


def earlier_runs(
    repository: Repository, base: str, pipeline: str, effort: Effort
) -> tuple[Sample, ...]:
    """The finished runs of this pipeline and effort that have ended, or whose state is in the
    commit `base`; broken ones are left out.
    """
    newest = past_folders(repository, base)[-_RUNS_READ:]
    # Only what the runs used is of interest: their documents stay unread.
    states = past_files(repository, newest, (STATE,)).values()
    states_read = (read_past_state(files.get(STATE)) for files in states)
    return tuple(
        tuple((phase, used.replace(cost=None)) for phase, used in _sample(run))
        if run.flags.batch
        else _sample(run)
        for run in states_read
        if run is not None
        and run.current_phase_status is RunStatus.COMPLETED
        and (run.pipeline, run.effort) == (pipeline, effort)
        and run.usage.tokens
    )


def shipped_run(pipeline: Pipeline, effort: Effort, *, auto: bool) -> Sample:
    """Return the usage of the recorded run at this effort: only the phases that models write.

    A phase that the record lacks counts as much as the recorded ones of its kind do on average, or
    as all do. Times are not recorded.
    """
    recorded = _recorded()
    kinds: dict[str, str] = {phase.id: phase.kind for phase in pipeline.phases}

    def used(phase: str) -> Usage:
        alike = [usage for name, usage in recorded.items() if kinds.get(phase) == kinds.get(name)]
        return recorded.get(phase) or _mean(alike or list(recorded.values()))

    asked = written_by_models(pipeline, effort, auto=auto)
    return tuple((phase.id, used(phase.id)) for phase in asked)


def _sample(run: PastState) -> Sample:
    """Return the use of a run by phase if its log has all of it; else as a whole."""
    phases = tuple((event.phase, event.usage) for event in run.log if event.usage is not None)
    logged = total(used for _, used in phases)
    whole = (run.usage.input_tokens, run.usage.output_tokens)
    return phases if (logged.input_tokens, logged.output_tokens) == whole else (("", run.usage),)


def _recorded() -> dict[str, Usage]:
    usage_by_phase: dict[str, Usage] = {}
    for exchange in read_exchanges(templates() / RECORD):
        usage_by_phase[exchange.phase] = (
            usage_by_phase.get(exchange.phase, Usage()) + exchange.usage
        )
    return usage_by_phase


def _mean(usages: list[Usage]) -> Usage:
    whole, count = total(usages), len(usages)
    return Usage(
        calls=whole.calls // count,
        input_tokens=whole.input_tokens // count,
        cached_tokens=whole.cached_tokens // count,
        output_tokens=whole.output_tokens // count,
        cost=None,
    )


def total(usages: Iterable[Usage]) -> Usage:
    """Return the sum over all phases."""
    return sum(usages, Usage())


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
