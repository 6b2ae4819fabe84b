"""The look for changes in a work tree beside other work: in a large repository it takes a while."""

from functools import partial
from threading import Thread, current_thread
from typing import Self

from forge_bot.errors import ForgeError
from forge_bot.git import Tree
from forge_bot.git.changes import StatusEntry
from forge_bot.git.process import call_off
from forge_bot.git.unread_files import know_unchanged
from forge_bot.runs.interrupts import ended_by_ctrl_c


class LookForChanges:
    """The uncommitted changes of a tree, listed in a thread of its own. `ours` says that only the
    run works there.
    """

    def __init__(self, tree: Tree, *, ours: bool) -> None:
        self._tree = tree
        self._ours = ours
        self._stands = ""
        self._found = tuple[StatusEntry, ...]()
        self._trouble: ForgeError | None = None
        self._thread = Thread(target=self._look)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it where its answer is no longer wanted."""
        call_off(self._thread)
        self._thread.join()

    def changes(self) -> tuple[StatusEntry, ...]:
        """Return the changes, by a second look where a commit was made after the beginning of the
        first one. Raises GitFailed.
        """
        self._thread.join()
        if self._trouble is not None:
            raise self._trouble
        return self._found if self._tree.commit_id() == self._stands else self._tree.status()

    def _look(self) -> None:
        try:
            with ended_by_ctrl_c(partial(call_off, current_thread())):
                self._stands = self._tree.commit_id()
                if self._ours:
                    know_unchanged(self._tree.path)
                self._found = self._tree.status()
        except ForgeError as error:
            self._trouble = error
