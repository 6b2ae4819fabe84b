"""A run of a pipeline of steps that is killed at any boundary ends with the same tree, documents
and reports.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recovery.conftest import Told
from tests.recovery.nursery import Nursery
from tests.recovery.play import Play
from tests.recovery.scripts import Part
from tests.recovery.trials import FILE, GIT, Boundary, Kind, survives, undisturbed
from tests.recovery.world import World

pytestmark = pytest.mark.slow

_WISHES = {
    "scaffold": "Add a price list\n\nname: price list\npurpose: Lists prices by country",
    "audit": "Look at the whole project",
}
_KINDS: tuple[Kind, ...] = (*GIT, *FILE)
_ASKED, _APPROVED = 0, 1


@pytest.fixture(scope="module", params=_WISHES)
def steps(
    request: pytest.FixtureRequest, nursery: Nursery, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Told]:
    """A shipped pipeline of steps, performed once without a disturbance: its question, and its end
    after a yes.
    """
    name: str = request.param
    with Play() as play:
        world = World(tmp_path_factory.mktemp(name), nursery, play)
        world.build()
        (world.path / "rota" / "broken.py").write_text("def (:\n")
        world.git("add", "-A")
        world.git("commit", "-qm", "A file that cannot be read")
        script = (Part(("run", "--pipeline", name, _WISHES[name]), 3), Part(("approve",), 0))
        yield world, undisturbed(world, script)


@pytest.mark.parametrize("part", [_ASKED, _APPROVED])
def test_steps_that_are_killed_again_and_again_end_the_same(steps: Told, part: int) -> None:
    world, parts = steps
    whole = parts[part]
    git, file = whole.counts["git before"], whole.counts["file"]
    boundaries = (
        Boundary("git after", git // 2),
        Boundary("power", file // 3),
        Boundary("git before", git // 4),
        Boundary("file", file // 4),
    )
    assert survives(world, whole, boundaries) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("part", [_ASKED, _APPROVED])
def test_steps_that_are_killed_at_one_boundary_end_the_same(
    steps: Told, part: int, kind: Kind, share: int
) -> None:
    world, parts = steps
    # Every call of git; of the changes of files every fifth, for all of them take hours.
    apart = 1 if kind in GIT else 5
    for number in range(1 + share * apart, parts[part].counts[kind] + 1, 4 * apart):
        survives(world, parts[part], (Boundary(kind, number),))


@pytest.mark.parametrize(("saved", "code"), [("1", 3), ("end", 5)])
def test_a_commit_that_was_killed_before_its_index_was_in_place_leaves_nothing_changed(
    steps: Told, saved: str, code: int
) -> None:
    world, _ = steps
    world.back(saved)
    before = world.standing()
    world.git("read-tree", "HEAD~1", folder=world.tree)
    own = Path(world.git("rev-parse", "--absolute-git-dir", folder=world.tree))
    (own / "index.lock").touch()
    assert world.standing().uncommitted != before.uncommitted
    assert world.forge("resume")[0] == code
    assert world.standing().uncommitted == before.uncommitted
