"""What a run will probably take, and what was taken out of its request: said in its comments, and worked out anew by each job."""

from decimal import Decimal

from forge_bot.errors import ForgeError
from forge_bot.prompts.untrusted import clean, sentence
from forge_bot.runs.estimate import Estimate, estimate
from forge_bot.runs.run import Run
from forge_bot.values import Tier


def expected_cost(run: Run) -> str:
    """The estimate in plain words; nothing where there is no evidence for one, since nobody's work depends on it."""
    state = run.state
    models = {tier: run.config.model_for(tier) for tier in Tier}
    try:
        found = estimate(run.repository, state.base_commit, run.pipeline, state.effort, models, auto=state.flags.auto)
    except ForgeError:
        return ""
    return in_words(found)


def in_words(found: Estimate) -> str:
    """`8 to 15 minutes of models at work, $0.40 to $0.90`: half of such runs stay below the first figures, nine in ten below the second."""
    parts: list[str] = []
    if found.minutes is not None:
        parts.append(f"{_span(_minutes(found.minutes.p50), _minutes(found.minutes.p90))} minutes of models at work")
    if found.cost is not None:
        parts.append(_span(f"${found.cost.p50:.2f}", f"${found.cost.p90:.2f}"))
    else:
        parts.append(f"{_span(f'{found.tokens.p50:,}', f'{found.tokens.p90:,}')} tokens")
    return ", ".join(parts)


def removed(run: Run) -> str:
    """The sentence about hidden text that no model gets to see of the request; empty when there is none."""
    return sentence(clean(run.request.text).removals)


def _minutes(value: float) -> str:
    return str(max(1, round(Decimal(str(value)))))


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
