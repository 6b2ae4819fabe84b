"""The work tree in which the commands of a run judge, filled while the run begins: in a large
repository that keeps one processor busy for half a second.
"""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread, current_thread

from forge_bot.errors import ForgeError
from forge_bot.git import Repository, Tree
from forge_bot.git.process import call_off
from forge_bot.runs.interrupts import check_not_interrupted, ended_by_ctrl_c
from forge_bot.runs.run_paths import RunPaths

_made: dict[Path, tuple[Tree, str]] = {}
"""Unused trees that this process has made, by folder, with their commits.

Another process makes its tree again, since it does not know what happened to these.
"""

_filling: dict[Path, Thread] = {}


@contextmanager
def made_beside(repository: Repository, places: RunPaths, commit: str) -> Generator[None]:
    """Fill the tree in a thread of its own, which may go on after the block until `taken`. If the
    block fails the tree is removed; if the tree cannot be made, setup tries once more and says why.
    """
    with suppress(ForgeError):
        tree = repository.detached_tree(places.judged, commit, filled=False)
        _filling[places.judged] = Thread(target=_filled, args=(tree, places.judged, commit))
        _filling[places.judged].start()
    try:
        yield
    except BaseException:
        wait_for(places)
        _made.pop(places.judged, None)
        with suppress(ForgeError):
            repository.remove_tree(places.judged)
        raise


def wait_for(places: RunPaths) -> None:
    """Return when the tree is filled, or could not be."""
    if (filling := _filling.get(places.judged)) is not None:
        filling.join()


def taken(places: RunPaths, commit: str) -> Tree | None:
    """Return the tree if this process made it at the commit and no setup has begun there; it is
    given out once. Raises Interrupted after Ctrl-C, which ends the filling: nobody is to make the
    tree once more.
    """
    wait_for(places)
    check_not_interrupted()
    tree, made_at = _made.pop(places.judged, (None, ""))
    return tree if made_at == commit and not places.environment.exists() else None


def _filled(tree: Tree, path: Path, commit: str) -> None:
    with suppress(ForgeError), ended_by_ctrl_c(partial(call_off, current_thread())):
        tree.fill()
        _made[path] = (tree, commit)
