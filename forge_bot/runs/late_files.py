"""Work trees of runs that this process has made. Their files may be checked out while setup and the
first checks go on in another tree: whatever needs them waits, and so does the end of the process.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread, current_thread

from forge_bot.errors import ForgeError
from forge_bot.git import Tree, unfilled_trees
from forge_bot.git.own_files import is_unfilled
from forge_bot.git.process import call_off
from forge_bot.runs.interrupts import ended_by_ctrl_c

_made: set[Path] = set()


def note_new_tree(path: Path) -> None:
    """Note a tree that was made, with all that was written there committed."""
    _made.add(path)


def is_new_tree(path: Path) -> bool:
    """Return whether this process has made the tree and not asked so before."""
    known = path in _made
    _made.discard(path)
    return known


_wanted: dict[Path, str] = {}
"""Trees that this process has made without files, by folder, with the commits of the files."""

_under_way: dict[Path, "_Filling"] = {}


class _Filling:
    """The checkout of a tree's files in a thread of its own."""

    def __init__(self, tree: Tree, commit: str, first: Callable[[], object]) -> None:
        self._tree = tree
        self._commit = commit
        self._first = first
        self._trouble: ForgeError | None = None
        self._lock = Lock()
        self._finished = False
        self._thread = Thread(target=self._fill)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the files. Raises GitFailed if they could not be written."""
        self._thread.join()
        if self._trouble is not None:
            raise self._trouble

    def finish(self) -> None:
        """Make it a work tree like any other."""
        self.wait()
        with self._lock:
            if not self._finished:
                unfilled_trees.finish(self._tree.path)
                self._finished = True

    def _fill(self) -> None:
        try:
            with ended_by_ctrl_c(partial(call_off, current_thread())):
                self._first()
                unfilled_trees.fill(self._tree.path, self._commit)
        except ForgeError as error:
            self._trouble = error


def fill_later(tree: Tree, commit: str) -> None:
    """Note that this process has made a tree without files, and fills it when it opens the run."""
    _wanted[tree.path] = commit


@contextmanager
def files_of(tree: Tree, own: str, first: Callable[[], object]) -> Generator[None]:
    """Fill a tree during the block if this process has made it without files, after `first`; it is
    filled when the block ends, unless Ctrl-C ends both. What a process that was killed or stopped
    left out is checked out before the block.

    Files below the folder `own` are the run's, which writes them meanwhile.
    """
    commit = _wanted.pop(tree.path, None)
    if commit is None:
        if is_unfilled(tree.path):
            unfilled_trees.complete(tree.path, own)
        yield
        return
    filling = _under_way[tree.path] = _Filling(tree, commit, first)
    try:
        try:
            yield
        except BaseException:
            # The next process fills what is missing then.
            with suppress(ForgeError):
                filling.finish()
            raise
        filling.finish()
    finally:
        del _under_way[tree.path]


def wait_for_files(tree: Tree) -> None:
    """Return when all files of the tree can be read. To look for changes among them takes long
    until `finish_files`. Raises GitFailed if they could not be written.
    """
    if (filling := _under_way.get(tree.path)) is not None:
        filling.wait()


def finish_files(tree: Tree) -> None:
    """Return when the tree is like any other. Raises GitFailed if its files could not be written.

    Git is told the times of the files as late as possible: when it writes an index in the second in
    which they were written, it reads all of them.
    """
    if (filling := _under_way.get(tree.path)) is not None:
        filling.finish()
