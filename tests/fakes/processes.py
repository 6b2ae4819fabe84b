"""The processes that a piece of work starts and the files that it opens, counted: by the
interpreter's own audit events, or by a `git` that notes each call.
"""

import os
import re
import shutil
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


class CountedGit:
    """A `git` that comes first on the path, notes how it was called and becomes the real one."""

    def __init__(self, folder: Path) -> None:
        real = shutil.which("git")
        assert real is not None
        self._noted = folder / "calls"
        self.path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        folder.mkdir()
        script = folder / "git"
        script.write_text(
            f'#!/bin/sh\nprintf \'%s\\n\' "$*" >> "{self._noted}"\nexec "{real}" "$@"\n',
            encoding="utf-8",
        )
        script.chmod(0o755)

    def calls(self) -> list[str]:
        """How git was called since this was asked last, without the settings of every call."""
        lines = self._noted.read_text(encoding="utf-8").splitlines() if self._noted.exists() else []
        self._noted.unlink(missing_ok=True)
        return [_SETTING.sub("", line) for line in lines]
