"""One server and one finished run for all tests that only look at them."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forge_bot.sentences import hint_of

if TYPE_CHECKING:
    from tests.temporal.scene import Clone, Server

collect_ignore_glob = [] if find_spec("temporalio") else ["test_*.py"]

TASK = "Nobody is on call before the start"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a real server."""
    for item in items:
        names = item.fixturenames if isinstance(item, pytest.Function) else []
        if "tests/temporal/" in item.nodeid and {"server", "asked_alone"} & {*names}:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Server]":
    """A Temporal server; its tests are skipped where its program is not installed."""
    from forge_bot.errors import TemporalServerMissing
    from forge_bot.temporal.temporal_server import find_server_program
    from tests.temporal.scene import server as started

    try:
        find_server_program()
    except TemporalServerMissing as missing:
        pytest.skip(f"{missing.message} {hint_of(missing)}")
    with started(tmp_path_factory.mktemp("temporal-server")) as it:
        yield it


@pytest.fixture(scope="session")
def asked(server: "Server", tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Clone]":
    """A clone with a worker that is new on its machine, so that no sentence is compiled yet, and a
    run that has asked its first question.
    """
    from tests.temporal.scene import clone

    compiled = str(tmp_path_factory.mktemp("compiled"))
    with clone(tmp_path_factory.mktemp("temporal-clone"), server) as it:
        it.start_worker({**it.environ, "PYTHONPYCACHEPREFIX": compiled})
        said = it.begin(TASK)
        assert said.code == 3, said.out + said.err
        yield it


@pytest.fixture(scope="session")
def over(asked: "Clone") -> "Clone":
    """The same clone after the approval: its run is over."""
    stale = asked.forge("approve", "0123456789ab")
    assert (stale.code, "GATE-002" in stale.err) == (5, True), stale.out + stale.err
    said = asked.forge("approve")
    assert said.code == 0, said.out + said.err
    return asked


@pytest.fixture
def place(server: "Server", tmp_path: Path) -> "Iterator[Clone]":
    from tests.temporal.scene import clone

    with clone(tmp_path / "clone", server) as it:
        yield it


@pytest.fixture
def asked_alone(tmp_path: Path) -> "Iterator[Clone]":
    """A run that has asked its first question, on a server of its own."""
    from tests.temporal.scene import clone
    from tests.temporal.scene import server as started

    with started(tmp_path / "server") as its_own, clone(tmp_path / "clone", its_own) as it:
        it.start_worker()
        said = it.begin(TASK)
        assert said.code == 3, said.out + said.err
        it.stop()
        yield it
