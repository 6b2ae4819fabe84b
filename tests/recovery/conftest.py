"""What every test of this folder stands on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recovery.nursery import Nursery
from tests.recovery.play import Play
from tests.recovery.scripts import LONG, SENT_BACK, SHORT
from tests.recovery.trials import Undisturbed, undisturbed
from tests.recovery.world import World


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that stand on one performance of a script in one process: it takes a while."""
    for item in (each for each in items if each.nodeid.startswith("tests/recovery/")):
        names = getattr(item, "fixturenames", ())
        script = next(
            (name for name in ("long", "red", "steps", "sent_back") if name in names),
            "short",
        )
        item.add_marker(pytest.mark.xdist_group(f"recovery-{script}"))


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery() as running:
        yield running


@pytest.fixture
def blank(nursery: Nursery, tmp_path: Path) -> Iterator[World]:
    """A world that is still to be built."""
    with Play() as play:
        yield World(tmp_path, nursery, play)


@pytest.fixture
def world(blank: World) -> World:
    """A repository in which nothing has happened yet."""
    blank.build()
    return blank


Told = tuple[World, list[Undisturbed]]


@pytest.fixture(scope="session")
def short(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """The short script, performed once without a disturbance; the world before each part is
    kept.
    """
    with Play() as play:
        made = World(tmp_path_factory.mktemp("short"), nursery, play)
        made.build()
        yield made, undisturbed(made, SHORT)


@pytest.fixture(scope="session")
def red(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """The short script, with an implementer that breaks a test at first."""
    with Play(red_first=True) as play:
        made = World(tmp_path_factory.mktemp("red"), nursery, play)
        made.build()
        yield made, undisturbed(made, SHORT)


@pytest.fixture(scope="session")
def sent_back(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """The short script, with a design that a person rejects first."""
    with Play() as play:
        made = World(tmp_path_factory.mktemp("sent_back"), nursery, play)
        made.build()
        yield made, undisturbed(made, SENT_BACK)


@pytest.fixture(scope="session")
def long(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """The same for the long script."""
    with Play() as play:
        made = World(tmp_path_factory.mktemp("long"), nursery, play)
        made.build()
        yield made, undisturbed(made, LONG)
