"""The estimate of a run and the text removed from its request, as its comments show them. Each job
computes them anew.
"""

from forge_bot.errors import ForgeError
from forge_bot.prompts.untrusted import clean, sentence
from forge_bot.runs.estimate import estimate, in_words, without_batches
from forge_bot.runs.run import Run
from forge_bot.values import Tier


def expected_cost(run: Run) -> str:
    """Return the estimate in plain words; empty without evidence for one."""
    state = run.state
    models = {tier: run.config.model_for(tier) for tier in Tier}
    try:
        found = estimate(
            run.repository,
            state.base_commit,
            run.pipeline,
            state.effort,
            models,
            auto=state.flags.auto,
            batch=state.flags.batch,
            records=state.recalls_from,
        )
    except ForgeError:
        return ""
    at_once = without_batches(models) if state.flags.batch else ""
    return f"{in_words(found)} ({at_once})" if at_once else in_words(found)


def removed(run: Run) -> str:
    """The sentence about hidden text that no model gets to see of the request; empty when there is
    none.
    """
    return sentence(clean(run.request.text).removals)
