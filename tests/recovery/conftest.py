"""What every test of this folder stands on."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.recovery.kills import Undisturbed, undisturbed
from tests.recovery.play import Play
from tests.recovery.scripts import LONG, SHORT, Part
from tests.recovery.world import World


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that stand on one performance of a script in one process: it takes a while."""
    for item in (each for each in items if each.nodeid.startswith("tests/recovery/")):
        script = "long" if "long" in getattr(item, "fixturenames", ()) else "short"
        item.add_marker(pytest.mark.xdist_group(f"recovery-{script}"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A repository in which nothing has happened yet."""
    with Play() as play:
        made = World(tmp_path, play)
        made.build()
        yield made


Told = tuple[World, list[Undisturbed]]


def _performed(folder: Path, script: Sequence[Part]) -> Iterator[Told]:
    """A script, performed once without a disturbance; the world before each part is kept."""
    with Play() as play:
        made = World(folder, play)
        made.build()
        yield made, undisturbed(made, script)


@pytest.fixture(scope="session")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    yield from _performed(tmp_path_factory.mktemp("short"), SHORT)


@pytest.fixture(scope="session")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    yield from _performed(tmp_path_factory.mktemp("long"), LONG)
