"""The processes that a piece of work starts and the files that it opens, counted: by the
interpreter's own audit events, or by a `git` that notes each call.
"""

import contextlib
import re
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

_counting: list[tuple[list[str], Path | None]] = []
_opened: list[list[str]] = []
_SETTING = re.compile(r"-c \S+ ")


def _heard(event: str, arguments: tuple[object, ...]) -> None:
    if event == "subprocess.Popen" and _counting:
        found, within = _counting[-1]
        folder, env = arguments[2:]
        if within is None or _is_about(within, folder, cast("Mapping[str, str] | None", env)):
            found.append(str(arguments[1]))
    if event == "open" and _opened and isinstance(arguments[0], str):
        _opened[-1].append(arguments[0])


def _is_about(within: Path, folder: object, env: Mapping[str, str] | None) -> bool:
    """Return whether a process is started in a folder or for the repository there."""
    places = (folder, env.get("GIT_DIR") if env is not None else None)
    return any(Path(str(place)).is_relative_to(within) for place in places if place is not None)


sys.addaudithook(_heard)


@contextmanager
def counted(within: Path | None = None) -> Generator[list[str]]:
    """The command lines of all processes that are started meanwhile, by any thread; of those in a
    folder or for the repository there alone, if one is given.
    """
    found: list[str] = []
    counting = (found, within)
    _counting.append(counting)
    try:
        yield found
    finally:
        _counting.remove(counting)


def started_by(once: Callable[[], object]) -> list[str]:
    """The command lines of all processes that are started on the way."""
    with counted() as found:
        once()
    return found


def opened_by(once: Callable[[], object]) -> list[str]:
    """The files that are opened on the way, by this process."""
    _opened.append([])
    once()
    return _opened.pop()


def below(pid: int) -> list[int]:
    """All processes that a process started, and those started by them."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                about = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                parent = int(about.rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    started, left = list[int](), [pid]
    while left:
        children = parents.get(left.pop(), [])
        started += children
        left += children
    return started
