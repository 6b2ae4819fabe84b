"""How workers share the tests: which of them run one after another in one worker, so that what they
stand on is made once, and which are begun first.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

_WHOLE = Path(__file__).parent
_MADE_ONCE = {"over": "over", "played_demo": "demo"}
"""The group of tests that stand on a fixture which takes long to make."""
_LONG = frozenset({"cli/test_runs.py", "bot/test_troubles.py", "security/test_threads.py"})
"""Files that take a good part of their room's time and would be begun late."""


def group_of(item: pytest.Item) -> str | None:
    """The group that a test belongs to: the one it is marked with, or that of the run which it
    goes on with or looks at.
    """
    mark = item.get_closest_marker("one_worker")
    if mark is not None:
        return str(mark.args[0])
    names = getattr(item, "fixturenames", ())
    return next((group for name, group in _MADE_ONCE.items() if name in names), None)


def units(items: Sequence[pytest.Item]) -> list[list[int]]:
    """The places of tests that run one after another in one worker: a group, or the other tests of
    a file, for these stand on the same fixtures and libraries.
    """
    found: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        found.setdefault(group_of(item) or str(item.path), []).append(place)
    # Sorting is stable: units of one kind stay as they were collected.
    return sorted(found.values(), key=lambda unit: _begun_late(items[unit[0]]))


def _begun_late(item: pytest.Item) -> bool:
    """Whether a unit that begins with this test can wait. A group takes long, and so do files about
    the whole of forge-bot; what is begun last keeps the others waiting.
    """
    file = item.path.relative_to(_WHOLE).as_posix() if item.path.is_relative_to(_WHOLE) else ""
    return group_of(item) is None and file not in _LONG and "/" in file
