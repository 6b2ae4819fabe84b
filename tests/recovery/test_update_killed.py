"""An update that is killed between its steps is begun again, and ends as if nothing had happened."""

import shutil

import pytest

from tests.recovery.conftest import Told
from tests.recovery.scripts import MODEL, Part
from tests.recovery.trials import KILLED, REFUSED, compare, killed_at, performed, spread

UPDATE = ("update", *MODEL)
_EACH = 9


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(
            slice(_EACH + _EACH // 2, None, 2 * _EACH),
            id="in the middle",
            marks=pytest.mark.slow,
        ),
        *(
            pytest.param(slice(each, None, _EACH), id=f"{each}", marks=pytest.mark.slow)
            for each in range(_EACH)
        ),
    ],
)
def test_an_update_that_is_killed_at_any_boundary_is_begun_again_and_ends_the_same(
    short: Told, chosen: slice
) -> None:
    world, _ = short
    world.back("end")
    (world.path / "news.txt").write_text("news\n")
    world.git("add", "news.txt")
    world.git("commit", "-qm", "News")
    shutil.rmtree(world.root / "saved" / "moved", ignore_errors=True)
    world.save("moved")
    whole = performed(world, 2, Part(UPDATE, 0))
    merged = [subject for subject in whole.standing.commits if subject.startswith("Merge main")]
    assert len(merged) == 1
    for boundary in spread(whole, ("git before", "git after", "file", "power"), _EACH)[chosen]:
        world.back("moved")
        world.play.fresh()
        assert killed_at(world, UPDATE, boundary) in {KILLED, 0}, boundary
        code, said = world.forge(*UPDATE)
        if "has all of main already" in said:
            code, said = world.forge("resume", *MODEL)
        assert code in {0, REFUSED}, (boundary, said)
        compare(world, whole)
