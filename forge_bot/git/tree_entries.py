"""The entries of a tree: names, modes and ids. The content of an id never changes, so each tree is
read once.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.errors import GitFailed
from forge_bot.git.object_reader import answers, tree_entries
from forge_bot.git.process import LONG, git
from forge_bot.sentences import say

GONE = "000000"
"""The mode of a file that a commit removed, as git writes it."""

SUBMODULE = "160000"
"""The mode of another repository, which stands in a tree by the id of its commit."""

_FOLDER = "040000"
_MOST_READ = 64
"""The most trees that are read one by one; for more, git lists all at once."""

_OF_A_NAME = 8
"""So many places in a list take the memory of one name."""

_MOST_KNOWN = 100_000
"""Entries that are kept, of all trees together: some tens of MB."""


class ListedEntry(NamedTuple):
    """One line of a tree, as git lists it."""

    mode: str
    oid: str

    @property
    def kind(self) -> str:
        """Return the kind of the object."""
        return _KINDS.get(self.mode, "blob")


_KINDS = {_FOLDER: "tree", SUBMODULE: "commit"}
_HOLDS_FILES = frozenset(_KINDS)
_Rows = dict[str, ListedEntry]
_Files = list[tuple[str, ListedEntry]]


class _KnownTrees(dict[str, _Rows]):
    """The trees that were read, by id, and the files below them by path."""

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0
        self.files: dict[tuple[str, str], _Files] = {}

    def keep(self, oid: str, rows: _Rows) -> None:
        if oid not in self:
            self.entries += len(rows) + 1
            self[oid] = rows

    def make_room(self) -> None:
        if self.entries > _MOST_KNOWN:
            self.clear()
            self.files.clear()
            self.entries = 0


_known = _KnownTrees()


def rows(folder: Path, tree: str) -> _Rows:
    """Return the direct entries of a tree, by name. Raises GitFailed if the tree is missing."""
    if tree not in _known:
        _known.make_room()
        _read(folder, [tree])
    return _known[tree]


def find(folder: Path, tree: str, path: str) -> ListedEntry | None:
    """Return the entry at a path in a tree. The path has no empty parts."""
    found: ListedEntry | None = ListedEntry(_FOLDER, tree)
    for name in path.split("/"):
        if found is None or found.mode != _FOLDER:
            return None
        found = rows(folder, found.oid).get(name)
    return found


def files_below(folder: Path, tree: str, start: str = "") -> Sequence[tuple[str, ListedEntry]]:
    """Return all files and submodules below a tree, in git's order. Paths begin with `start`."""
    _read_below(folder, tree)
    return _walked(folder, tree, start)


def folders_below(folder: Path, tree: str, start: str = "") -> Iterator[tuple[str, ListedEntry]]:
    """Yield the paths of all folders and submodules below a tree, with their entries."""
    if not start:
        _read_below(folder, tree)
    for name, entry in rows(folder, tree).items():
        if entry.mode in _HOLDS_FILES:
            yield f"{start}{name}", entry
        if entry.mode == _FOLDER:
            yield from folders_below(folder, entry.oid, f"{start}{name}/")


def differences(folder: Path, base: str, other: str) -> Iterator[tuple[str, ListedEntry]]:
    """Yield the files in which two trees differ, as the second one has them.

    A file that the second one lacks has the mode `GONE`. A renamed file occurs with both names.
    """
    yield from _differences(folder, base, other, "")


def _walked(folder: Path, tree: str, start: str) -> _Files:
    """Walk a tree, without the subtrees that another tree has at the same path."""
    if (tree, start) in _known.files:
        return _known.files[tree, start]
    found: _Files = []
    inside = rows(folder, tree)
    for name, entry in inside.items():
        if entry.mode == _FOLDER:
            found += _walked(folder, entry.oid, f"{start}{name}/")
        else:
            found.append((f"{start}{name}", entry))
    # Deeper entries are named in the list of their folder already.
    _known.entries += len(inside) + len(found) // _OF_A_NAME
    _known.files[tree, start] = found
    return found


def _differences(
    folder: Path, base: str, other: str, start: str
) -> Iterator[tuple[str, ListedEntry]]:
    before = rows(folder, base) if base else {}
    after = rows(folder, other) if other else {}
    keys = {
        (name, entry.mode == _FOLDER) for each in (before, after) for name, entry in each.items()
    }
    for name, is_folder in sorted(keys, key=_place):
        old, new = (_of_kind(each, name, is_folder=is_folder) for each in (before, after))
        if old == new:
            continue
        if is_folder:
            below = [each.oid if each is not None else "" for each in (old, new)]
            yield from _differences(folder, below[0], below[1], f"{start}{name}/")
        else:
            yield f"{start}{name}", new or ListedEntry(GONE, "0" * len(base or other))


def _place(key: tuple[str, bool]) -> bytes:
    """Return what git orders the entries of a tree by: a folder as if it ended in a slash."""
    name, is_folder = key
    return os.fsencode(name) + (b"/" if is_folder else b"")


def _of_kind(known: _Rows, name: str, *, is_folder: bool) -> ListedEntry | None:
    found = known.get(name)
    return found if found is not None and (found.mode == _FOLDER) is is_folder else None


def _read_below(folder: Path, tree: str) -> None:
    """Read all trees below one, level by level, or all at once where they are many."""
    _known.make_room()
    level = [tree]
    while level:
        new = [oid for oid in dict.fromkeys(level) if oid not in _known]
        if len(new) > _MOST_READ:
            _list_all(folder, tree)
            return
        _read(folder, new)
        level = [
            entry.oid for oid in level for entry in _known[oid].values() if entry.mode == _FOLDER
        ]


def _read(folder: Path, trees: list[str]) -> None:
    for oid, found in zip(trees, answers(folder, [each.encode() for each in trees]), strict=True):
        if found is None or found.kind != "tree":
            raise GitFailed(
                say("git.tree_entries.tree_is_missing", oid=oid, folder=folder),
                hint=say("git.files_at.run_fsck"),
            )
        _known.keep(
            oid,
            {
                os.fsdecode(each.name): ListedEntry(
                    sys.intern(each.mode.decode().rjust(len(_FOLDER), "0")), each.oid.hex()
                )
                for each in tree_entries(found)
            },
        )


def _list_all(folder: Path, tree: str) -> None:
    """Read all trees below one from git's own list: `<mode> SP <type> SP <oid> TAB <path>`
    (git-ls-tree(1)).
    """
    listed = git(folder, "ls-tree", "-r", "-t", "-z", "--full-tree", tree, seconds=LONG).names
    oids, found = {"": tree}, {tree: _Rows()}
    for row in listed:
        about, _, path = row.partition("\t")
        mode, _, oid = about.split(" ")
        above, _, name = path.rpartition("/")
        found[oids[above]][name] = ListedEntry(sys.intern(mode), oid)
        if mode == _FOLDER:
            oids[path] = oid
            found.setdefault(oid, {})
    for oid, inside in found.items():
        _known.keep(oid, inside)
