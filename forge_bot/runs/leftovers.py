"""Find the files that runs leave on this machine outside of git: work trees, tool environments,
journals.
"""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from forge_bot.errors import ForgeError, RunBusy
from forge_bot.git import Repository, Tree
from forge_bot.resources import state_home
from forge_bot.runs.finding_runs.ended_runs import remove_branch
from forge_bot.runs.finding_runs.find_runs import RunInfo, runs
from forge_bot.runs.run_paths_and_names import RunPaths, run_paths
from forge_bot.runs.this_process import this_process
from forge_bot.store import held
from forge_bot.values import Frozen


class Leftover(Frozen):
    """The folder of one run, the run's own branch if it ended and the change is on another one,
    and the reason why nothing can be removed; empty if it can.
    """

    run: str
    folder: Path
    branch: str = ""
    size: int
    kept_because: str = ""


def leftovers(repository: Repository) -> tuple[Leftover, ...]:
    """Return the folders that the runs of this repository have left, by name."""
    known = {info.name: info for info in runs(repository)}
    left_folders: list[Leftover] = []
    for name, folder in _folders(repository):
        info = known.get(name)
        because = _against(repository, info, run_paths(repository, name))
        branch = info.branch if info is not None and info.merge_branch else ""
        size = _size(folder)
        left_folders.append(
            Leftover(run=name, folder=folder, branch=branch, size=size, kept_because=because)
        )
    return tuple(left_folders)


def remove_leftover(repository: Repository, left: Leftover) -> bool:
    """Remove all files of a run, its journal included, and its branch once its record is kept;
    False if a process works on it.
    """
    places = run_paths(repository, left.run)
    try:
        with held(places.lock, f"the run {left.run}", this_process()):
            remove_trees(repository, places.home)
            if left.branch:
                remove_branch(repository, left.run, left.branch)
    except RunBusy:
        return False
    return True


def remove_work_tree(repository: Repository, run: str) -> str:
    """Remove the work tree of a run that is over; its journal stays, and so do the tools, for other
    runs. Return why the tree was kept, empty if it is gone.
    """
    places = run_paths(repository, run)
    try:
        with held(places.lock, f"the run {run}", this_process()):
            if because := _in_use(places.tree):
                return because
            remove_trees(repository, places.tree, places.tasks)
    except RunBusy:
        return "another process works on the run"
    return ""


def _folders(repository: Repository) -> Iterator[tuple[str, Path]]:
    """Yield the name and the folder of each run of this repository that has one."""
    mark = run_paths(repository, "x").home.name.removeprefix("x")
    home = state_home()
    for folder in sorted(home.iterdir()) if home.is_dir() else ():
        if folder.name.endswith(mark) and folder.is_dir() and not folder.is_symlink():
            yield folder.name.removesuffix(mark), folder


def _against(repository: Repository, info: RunInfo | None, places: RunPaths) -> str:
    if info is not None and not info.ended:
        return "the run is not over"
    tree = places.tree if places.tree.is_dir() else None
    if tree is not None and tree not in {worktree.path for worktree in repository.worktrees()}:
        return f"{tree} is no work tree of this repository any more; look what is in it"
    return _in_use(places.tree)


def _in_use(tree: Path) -> str:
    """Return why a work tree should stay; empty if it can go."""
    if not tree.is_dir():
        return ""
    try:
        if Path.cwd().is_relative_to(tree):
            return "you are in it"
    except OSError:
        # Nobody is in a folder that is gone.
        pass
    try:
        changed = Tree(tree).status()
    except ForgeError:
        return "git cannot read it"
    if changed:
        return f"it has changes that are not committed, such as {changed[0].path}"
    return ""


def remove_task_tree(repository: Repository, path: Path) -> None:
    """Remove a work tree that was made for a task, and with the last one the folder above it."""
    repository.remove_tree(path)
    with suppress(OSError):
        path.parent.rmdir()


def remove_trees(repository: Repository, *folders: Path) -> None:
    """Remove folders with the work trees below them, also from git's list."""
    for worktree in repository.worktrees():
        if any(map(worktree.path.is_relative_to, folders)):
            repository.remove_tree(worktree.path)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _size(folder: Path) -> int:
    """Return the size in bytes of the files below a folder, but for those that disappear."""
    total = 0
    for place in folder.rglob("*"):
        try:
            total += place.lstat().st_size
        except OSError:
            continue
    return total
