"""Consecutive prompts of a run begin alike, and what is new in each is its own."""

from itertools import pairwise

import pytest

from benchmarks.shared_prompts import alike
from forge_bot.prompts.material import Prompt
from tests.fakes.finished import Demo, Finished, finished


@pytest.fixture(scope="module")
def run(played_demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return finished(played_demo.repository, tmp_path_factory.mktemp("shared"), 0)


@pytest.fixture(scope="module")
def made(run: Finished) -> list[tuple[str, Prompt]]:
    return [(step.action.phase, run.prompt(step)[0]) for step in run.steps]


def test_every_agent_has_the_same_system_part_of_at_most_a_thousand_tokens(
    made: list[tuple[str, Prompt]],
) -> None:
    assert len({prompt.system for _, prompt in made}) == 1
    assert len(made[0][1].system) <= 4_000


def test_each_prompt_begins_with_all_that_the_one_before_it_had_but_its_own_part(
    made: list[tuple[str, Prompt]],
) -> None:
    for (earlier, one), (phase, other) in pairwise(made):
        shared = alike(one.user, other.user)
        # The request and what was looked up for it is the least; what both were shown behind it
        # comes in the same order, so the beginning ends at a seam of the earlier prompt.
        assert shared >= one.seams[0], (earlier, phase)
    reviewers = [prompt for phase, prompt in made if phase in {"phase-3b", "phase-6"}]
    shared = min(alike(reviewers[0].user, each.user) for each in reviewers[1:])
    assert shared >= 0.5 * min(len(each.user) for each in reviewers)


def test_a_cache_of_marked_places_has_what_prompts_share_and_one_of_beginnings_is_long_enough(
    made: list[tuple[str, Prompt]],
) -> None:
    for at, (phase, prompt) in enumerate(made[1:], 1):
        earlier = [one for _, one in made[:at]]
        shared = max(alike(prompt.user, one.user) for one in earlier)
        assert (len(prompt.system) + shared) / 4 >= _LEAST_CACHED, phase
        marked = max(_read_from_cache(one, prompt) for one in earlier)
        assert shared - marked < 200, f"{phase}: what they share ends at a mark"


_LEAST_CACHED = 1_024
"""Tokens of a beginning that OpenAI's cache takes."""

_BLOCKS_BACK = 20
"""Blocks before a mark in which Anthropic's cache looks for an earlier mark."""


def _read_from_cache(earlier: Prompt, later: Prompt) -> int:
    """Return up to where a cache with marks at the first and the last seam has a prompt."""
    marks = (later.seams[0], later.seams[-1])
    reached = {
        seam
        for mark in marks
        for seam in [seam for seam in later.seams if seam <= mark][-_BLOCKS_BACK:]
    }
    kept = {earlier.seams[0], earlier.seams[-1]} & reached
    blocks = (earlier.seams, later.seams)
    return max(
        (
            seam
            for seam in kept
            if earlier.user[:seam] == later.user[:seam]
            and [at for at in blocks[0] if at <= seam] == [at for at in blocks[1] if at <= seam]
        ),
        default=0,
    )


def test_less_than_half_of_what_a_run_sends_is_new(made: list[tuple[str, Prompt]]) -> None:
    texts = [prompt.text for _, prompt in made]
    new = sum(
        len(text) - max((alike(text, seen) for seen in texts[:at]), default=0)
        for at, text in enumerate(texts)
    )
    assert new < 0.5 * sum(map(len, texts))


def test_a_prompt_made_again_has_the_same_bytes(run: Finished) -> None:
    step = run.steps[-1]
    assert run.prompt(step)[0] == run.prompt(step)[0]
