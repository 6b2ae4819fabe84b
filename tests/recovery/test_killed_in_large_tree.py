"""In a repository of many files, where commits are made of entries of the index and two work trees
at once, a run that is killed ends as if nothing had happened.
"""

import pytest

from forge_bot.git.own_files import FILLING
from tests.recovery.conftest import Told
from tests.recovery.trials import KINDS, Boundary, Kind, spread, survives

pytestmark = pytest.mark.slow


_INSTALLED = "ready"
"""The file that setup writes last: what commands said is not on record yet."""

_NOTED, _FILLED, _KNOWN = 1, 2, 3
"""Changes of the index of a tree that is being filled: its files are still to be checked out, all
of them are there, and git knows their times."""


@pytest.mark.parametrize(
    ("part", "boundary"),
    [
        (0, Boundary("power", _FILLED, FILLING)),
        (0, Boundary("file", _NOTED, FILLING)),
        (0, Boundary("power", _NOTED, FILLING)),
        (0, Boundary("power", _KNOWN, FILLING)),
        (0, Boundary("power", 1, _INSTALLED)),
        (0, Boundary("power", 20)),
        (1, Boundary("git before", 9)),
    ],
)
def test_a_run_in_a_large_tree_that_is_killed_ends_the_same(
    large: Told, part: int, boundary: Boundary
) -> None:
    world, parts = large
    assert survives(world, parts[part], (boundary,)) == 1


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_in_a_large_tree_that_is_killed_at_one_of_many_steps_ends_the_same(
    large: Told, kind: Kind, part: int
) -> None:
    world, parts = large
    for boundary in spread(parts[part], (kind,), 5):
        survives(world, parts[part], (boundary,))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["git before", "git after", "file", "power"])
@pytest.mark.parametrize("share", range(4))
def test_it_is_so_at_every_step_of_the_beginning(large: Told, kind: Kind, share: int) -> None:
    world, parts = large
    for number in range(1 + share, 160, 4):
        survives(world, parts[0], (Boundary(kind, number),))
