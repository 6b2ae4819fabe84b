"""x"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.process import LONG, git

_SHA256_DIGITS = 64
_FOLDER_ROW = re.compile(rb"40000 ([^\0]+)\0(.{20})|\d+ [^\0]+\0.{20}", re.DOTALL)
_LONG_FOLDER = re.compile(rb"40000 ([^\0]+)\0(.{32})|\d+ [^\0]+\0.{32}", re.DOTALL)


class GitObject(NamedTuple):
    """An object as git keeps it."""

    kind: str
    oid: str
    data: bytes

    def folders(self) -> dict[str, str]:
        """Return the folders directly in a tree, by name with the ids of their trees:
        `<mode> SP <name> NUL <id in bytes>` each.
        """
        form = _LONG_FOLDER if len(self.oid) == _SHA256_DIGITS else _FOLDER_ROW
        rows = form.findall(self.data) if self.kind == "tree" else ()
        return {os.fsdecode(name): oid.hex() for name, oid in rows if name}


def read_objects(
    folder: Path, names: Sequence[str], *, fetching: bool = True
) -> list[GitObject | None]:
    """Return the objects of names without line ends; None for one that is not there. Raises
    GitFailed for a broken one.

    A name is an id, or an id of a tree or commit with `:PATH`. What a partial clone lacks is
    fetched, or missing without `fetching` (by git 2.45 and later).
    """
    if not names:
        return []
    env = {} if fetching else {"GIT_NO_LAZY_FETCH": "1"}
    stdin = "".join(f"{name}\n" for name in names).encode(errors="surrogateescape")
    out = git(folder, "cat-file", "--batch", "--buffer", stdin=stdin, env=env, seconds=LONG).out
    return _answers(out, len(names))


def _answers(out: bytes, count: int) -> list[GitObject | None]:
    """Read what `git cat-file --batch` prints for each name: `<oid> SP <kind> SP <size> LF <data>
    LF`, or `<name> SP missing LF`.
    """
    objects: list[GitObject | None] = []
    start = 0
    for _ in range(count):
        end = out.index(b"\n", start)
        words = out[start:end].split(b" ")
        start = end + 1
        if not words[-1].isdigit():
            objects.append(None)
            continue
        oid, kind, size = words
        objects.append(GitObject(kind.decode(), oid.decode(), out[start : start + int(size)]))
        start += int(size) + 1
    return objects


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
