"""Tests that a run whose provider was down for a part of a wave asks the same questions as a run
without an outage.
"""

from collections import Counter

import pytest

from tests.recovery.conftest import Told
from tests.recovery.scripts import LONG


@pytest.mark.slow
def test_after_an_outage_in_a_wave_every_later_prompt_is_the_same(long: Told) -> None:
    world, parts = long
    world.back("3")
    world.play.fresh()
    config = world.path / ".forge" / "config.yml"
    config.parent.mkdir()
    config.write_text("model_retries: 0\n")
    world.play.down_for = "Nobody before the start"
    code, said = world.forge(*LONG[3].words)
    assert (code, "MODEL-" in said) == (1, True), said
    world.play.down_for = ""
    assert world.to_the_end([part.words for part in LONG[1:]]) == 0, world.printed
    asked = [line["task"] for line in world.standing().reports if line.get("phase") == "phase-5"]
    assert asked[:2] == ["2", "1"], (
        "the task that was answered first is kept although the other one was not"
    )
    assert set(world.play.asked) == set(parts[3].asked)
    assert Counter(world.play.asked).total() == parts[3].asked.total()
    assert world.standing().code == parts[3].standing.code
