"""How the workers of pytest-xdist share the tests: which of them run one after another in one worker,
so that what they stand on is made once, and who reads them first.

`--dist loadgroup` of pytest-xdist 3.8 writes a group into the id of a test, which pytest 9.2 does
not read any more. Here each worker writes down which test belongs to which group, and the scheduler
reads that before it hands out work.
"""

import fcntl
import json
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_WHOLE = Path(__file__).parent
_MADE_ONCE = {"over": "over", "played_demo": "demo"}
"""The group of tests that stand on a fixture which takes long to make. What `over` goes on with is
made by each worker: all that begin there would keep one worker busy alone.
"""


@contextmanager
def alone_when_first(config: pytest.Config) -> Generator[None]:
    """Collect alone where nothing was collected before: what is compiled and parsed for it is kept,
    and the other workers, which wait for the first, find it.
    """
    worker = _worker(config)
    if worker is None or (config.rootpath / ".hypothesis" / "constants").exists():
        yield
        return
    with _lock(worker).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def group_of(item: pytest.Item) -> str | None:
    """The group that a test belongs to: the one it is marked with, or that of the run which it
    goes on with or looks at.
    """
    mark = item.get_closest_marker("xdist_group")
    if mark is not None:
        return str(mark.args[0])
    names = getattr(item, "fixturenames", ())
    return next((group for name, group in _MADE_ONCE.items() if name in names), None)


def long_first(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order what a worker has collected: a group takes long, and so do files about the whole of
    forge-bot; what is begun last keeps the others waiting.
    """
    if _worker(config) is not None:
        items.sort(key=lambda item: (group_of(item) is None, item.path.parent != _WHOLE))


def write_groups(session: pytest.Session) -> None:
    """Write down the groups of what a worker has collected; where there are no workers, nobody
    asks for them.
    """
    worker = _worker(session.config)
    if worker is not None:
        groups = {item.nodeid: group for item in session.items if (group := group_of(item))}
        _file(worker).write_text(json.dumps(groups), encoding="utf-8")


class GroupScheduling(LoadScopeScheduling):
    """Hands out a group as a whole, and the other tests by their files: a file's tests stand on
    the same fixtures and libraries, which are loaded when they are needed first.
    """

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        # As they were collected: the number of tests says nothing of how long they take.
        config.option.loadscopereorder = False
        self._groups: dict[str, str] = {}

    def schedule(self) -> None:
        """Read the groups, which are the same for all workers, and hand out work."""
        if self.collection is None:
            for worker in filter(None, map(_worker, self.nodes)):
                self._groups = json.loads(_file(worker).read_text(encoding="utf-8"))
                _file(worker).unlink()
                _lock(worker).unlink(missing_ok=True)
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._groups.get(nodeid) or nodeid.partition("::")[0]


def _worker(of: object) -> dict[str, Any] | None:
    """What a worker was told, from its own configuration or from the scheduler's view of it."""
    return getattr(of, "workerinput", None)


def _lock(worker: dict[str, Any]) -> Path:
    return Path(tempfile.gettempdir(), f"collecting-{worker['testrunuid']}")


def _file(worker: dict[str, Any]) -> Path:
    return Path(tempfile.gettempdir(), f"groups-{worker['testrunuid']}-{worker['workerid']}.json")
