"""Cache the pending action until its inputs change, so that it is given again without git.

Hosts ask again and again while a person thinks or an agent works. A question or a prompt depends on
files: the record and the documents in the run's folder, the branch, and the configuration. They are
compared by the file system's data, as git's index does it. As there
(https://git-scm.com/docs/racy-git), a file that changed a moment ago proves nothing, because the
next change may have the same time.
"""

import os
import threading
from typing import NamedTuple

from forge_bot.git.revisions import own_folders
from forge_bot.mcp_server.client_runs.client_actions import ClientAction
from forge_bot.runs.run import Run
from forge_bot.runs.wall_clock import now
from forge_bot.store import SPECS

MOMENT = 2.0
"""Seconds: the coarsest times that a file system in use keeps (FAT)."""

_MOST = 100

Look = tuple[tuple[str, int, int, int, int], ...]


class _Kept(NamedTuple):
    files: tuple[str, ...]
    folders: tuple[str, ...]
    look: Look
    found: ClientAction


class ActionCache:
    """The last questions and prompts that were handed out."""

    def __init__(self, moment: float = MOMENT) -> None:
        self._moment = moment
        self._actions: dict[str, _Kept] = {}
        self._noting = threading.Lock()

    def again(self, workspace: str) -> ClientAction | None:
        """Return a workspace's action if it was handed out before and nothing has changed since."""
        asked = self._actions.get(workspace)
        return (
            asked.found
            if asked is not None and _look(asked.files, asked.folders) == asked.look
            else None
        )

    def note(self, workspace: str, run: Run, found: ClientAction) -> None:
        """Remember a question or a prompt that was handed out, unless one of its files has just
        changed. The run is held.
        """
        with self._noting:
            self._actions.pop(workspace, None)
        if found.action.type not in {"checkpoint", "human_gate", "spawn_agent"}:
            return
        root = run.tree.path
        files = _files(run)
        folders = (
            f"{root}/{SPECS}/{run.name}",
            f"{root}/.forge/pipelines",
            f"{root}/.forge/prompts",
        )
        look = _look(files, folders)
        newest = max((max(changed, modified) for _, changed, modified, _, _ in look), default=0)
        if now().timestamp() - newest / 1e9 < self._moment:
            return
        action = found.action.replace(report_result=None, warning="")
        with self._noting:
            while len(self._actions) >= _MOST:
                self._actions.pop(next(iter(self._actions)), None)
            self._actions[workspace] = _Kept(
                files, folders, look, found._replace(action=action, news=False)
            )


def _files(run: Run) -> tuple[str, ...]:
    """Return the files that name the branch, its commit and the configuration."""
    root = run.tree.path
    own, common = own_folders(root)
    refs = (
        f"{common}/refs/heads/{run.state.branch}",
        f"{common}/packed-refs",
        f"{common}/reftable/tables.list",
    )
    return (f"{own}/HEAD", *refs, f"{root}/.forge/config.yml")


def _look(files: tuple[str, ...], folders: tuple[str, ...]) -> Look:
    """Return name, times, size and number of these files and of all files in these folders."""
    return tuple(
        _print(path) for path in (*files, *(path for folder in folders for path in _in(folder)))
    )


def _in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries)
    except FileNotFoundError:
        return []


def _print(path: str) -> tuple[str, int, int, int, int]:
    try:
        # Asked for a dozen files at each call, and a Path costs more than the question.
        seen = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return (path, 0, 0, 0, 0)
    return (path, seen.st_ctime_ns, seen.st_mtime_ns, seen.st_size, seen.st_ino)
