"""The fingerprints of a run's remarks: they follow from the run alone, so another process can work
them out for an index.
"""

from collections.abc import Mapping

from forge_bot.knowledge.fingerprints import Fingerprint, fingerprint
from forge_bot.knowledge.history import found_in, stuck_in
from forge_bot.knowledge.past_runs import PastRun

RunPrints = Mapping[str, Fingerprint]
"""The fingerprints of the remarks of one run, by their texts."""

NO_PRINTS: RunPrints = {}


def run_prints(run: PastRun) -> RunPrints:
    """Return the fingerprints of the reviewers' findings in a run and its points of friction."""
    texts = (remark.text for said in (found_in, stuck_in) for remark in said(0, run))
    return {text: fingerprint(text) for text in texts}
