"""The entries of a tree: names, modes and ids. The content of an id never changes, so the trees in
use are listed once.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.process import LONG, git

GONE = "000000"
"""The mode of a file that a commit removed, as git writes it."""

SUBMODULE = "160000"
"""The mode of another repository, which stands in a tree by the id of its commit."""

_FOLDER = "040000"


class ListedEntry(NamedTuple):
    """One line of a tree, as git lists it."""

    mode: str
    oid: str

    @property
    def kind(self) -> str:
        """Return the kind of the object."""
        return _KINDS.get(self.mode, "blob")


_KINDS = {_FOLDER: "tree", SUBMODULE: "commit"}


def rows(folder: Path, tree: str) -> dict[str, ListedEntry]:
    """Return the direct entries of a tree, by name. Raises GitFailed if the tree is missing."""
    return _list_tree(folder, tree, "-z")


def find(folder: Path, tree: str, path: str) -> ListedEntry | None:
    """Return the entry at a path in a tree. The path has no empty parts."""
    return _entries_below(folder, tree).get(path)


def files_below(folder: Path, tree: str, start: str = "") -> Sequence[tuple[str, ListedEntry]]:
    """Return all files and submodules below a tree, in git's order. Paths begin with `start`."""
    entries = _entries_below(folder, tree).items()
    return [(f"{start}{path}", entry) for path, entry in entries if entry.mode != _FOLDER]


def folders_below(folder: Path, tree: str) -> Iterator[tuple[str, ListedEntry]]:
    """Yield the paths of all folders and submodules below a tree, with their entries."""
    entries = _entries_below(folder, tree).items()
    return ((path, entry) for path, entry in entries if entry.mode in _KINDS)


def differences(folder: Path, base: str, other: str) -> Iterator[tuple[str, ListedEntry]]:
    """Yield the files in which two trees differ, as the second one has them.

    A file that the second one lacks has the mode `GONE`. A renamed file occurs with both names.
    """
    options = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty")
    fields = iter(git(folder, "diff-tree", *options, base, other, seconds=LONG).names)
    for about in fields:
        _, mode, _, oid, _ = about.split(" ")
        yield next(fields), ListedEntry(mode, oid)


def _entries_below(folder: Path, tree: str) -> dict[str, ListedEntry]:
    return _list_tree(folder, tree, "-rtz")


@lru_cache(maxsize=16)
def _list_tree(folder: Path, tree: str, form: str) -> dict[str, ListedEntry]:
    """List a tree: `<mode> SP <type> SP <oid> TAB <path>` (git-ls-tree(1))."""
    entries: dict[str, ListedEntry] = {}
    for row in git(folder, "ls-tree", form, "--full-tree", tree, seconds=LONG).names:
        about, _, path = row.partition("\t")
        mode, _, oid = about.split(" ")
        entries[path] = ListedEntry(sys.intern(mode), oid)
    return entries
