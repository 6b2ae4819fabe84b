"""The table of behaviours, held against the tests that are there."""

from pathlib import Path

import pytest

from tests.agent.capability_behaviours import BEHAVIOURS
from tests.security.test_classes import named_in

ROOT = Path(__file__).parents[2]


def test_every_behaviour_is_there() -> None:
    assert list(BEHAVIOURS) == [*range(1, 45 + 1), 49, 50]
    assert len({each.sentence for each in BEHAVIOURS.values()}) == len(BEHAVIOURS)


@pytest.mark.parametrize("number", BEHAVIOURS)
def test_the_tests_that_show_a_behaviour_are_there(number: int) -> None:
    shown = BEHAVIOURS[number].shown
    assert shown
    for node in shown:
        path, _, name = node.partition("::")
        assert name in named_in(ROOT / path), node
