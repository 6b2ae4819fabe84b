"""What every test of this folder stands on."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.recovery.kills import Undisturbed, undisturbed
from tests.recovery.play import Play
from tests.recovery.scripts import LONG, SHORT, Part
from tests.recovery.world import World


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
