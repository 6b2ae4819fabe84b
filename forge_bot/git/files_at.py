"""The names and contents of files in a commit, independent of the work tree: objects by their
names, entries of trees, files. The content of an id never changes, so the trees in use are listed
once.
"""

import hashlib
import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from forge_bot.errors import GitFailed
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import is_full_id, tree_id


class GitObject(NamedTuple):
    """An object as git keeps it."""

    kind: str
    oid: str
    data: bytes

    def folders(self) -> dict[str, str]:
        """Return the folders directly in a tree, by name with the ids of their trees:
        `<mode> SP <name> NUL <id in bytes>` each.
        """
        size = len(self.oid) // 2
        form = rb"40000 ([^\0]+)\0(.{%d})|\d+ [^\0]+\0.{%d}" % (size, size)
        rows = re.findall(form, self.data, re.DOTALL) if self.kind == "tree" else ()
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


class FileVersion(NamedTuple):
    """A file as a tree has it: path, mode and object id. A folder or another repository too."""

    path: str
    mode: str
    oid: str

    @property
    def kind(self) -> str:
        """Return the kind of the object."""
        return _KINDS.get(self.mode, "blob")


_KINDS = {_FOLDER: "tree", SUBMODULE: "commit"}


def differences(folder: Path, base: str, other: str) -> Iterator[FileVersion]:
    """Yield the files in which two trees differ, as the second one has them.

    A file that the second one lacks has the mode `GONE`. A renamed file occurs with both names.
    """
    options = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty")
    revisions = ("--end-of-options", base, other, "--")
    fields = iter(git(folder, "diff-tree", *options, *revisions, seconds=LONG).names)
    for about in fields:
        _, mode, _, oid, _ = about.split(" ")
        yield FileVersion(next(fields), mode, oid)


@lru_cache(maxsize=16)
def entries_of(folder: Path, tree: str) -> dict[str, FileVersion]:
    """Return all that is below a tree, folders too, by paths in git's order:
    `<mode> SP <type> SP <oid> TAB <path>` (git-ls-tree(1)).
    """
    entries: dict[str, FileVersion] = {}
    for row in git(folder, "ls-tree", "-rtz", "--full-tree", tree, seconds=LONG).names:
        about, _, path = row.partition("\t")
        mode, _, oid = about.split(" ")
        entries[path] = FileVersion(path, sys.intern(mode), oid)
    return entries


def blob_id(data: bytes) -> str:
    """Git's id of a file with these bytes, as `git hash-object --no-filters` says: sha1 of `blob
    <length>` NUL bytes.
    """
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def read(folder: Path, ref: str, path: str) -> bytes | None:
    """Bytes of a file at `ref`, None when there is no file of that name there. Of a link it gives
    the target's name.

    Raises GitFailed when `ref` names nothing.
    """
    return read_many(folder, ref, (path,)).get(path)


def read_many(folder: Path, ref: str, paths: Collection[str]) -> dict[str, bytes]:
    """Return the bytes of the existing files at `ref`, as `read` gives them, with few calls of git
    for any number of files.

    All of it is held in memory. Raises GitFailed if `ref` names nothing.
    """
    entries = entries_of(folder, tree_id(folder, ref))
    known = {path: entries.get(_plain(path) or "") for path in paths}
    oids = {path: entry.oid for path, entry in known.items() if entry and entry.kind == "blob"}
    data = raw(folder, tuple(dict.fromkeys(oids.values())))
    return {path: data[oid] for path, oid in oids.items()}


def objects(folder: Path, ref: str, paths: Collection[str] = ("",)) -> dict[str, tuple[str, str]]:
    """Return mode and object id of existing paths at `ref`, by default of every file; for a folder,
    of all files in it. A submodule has the id of its commit.
    """
    tree = tree_id(folder, ref)
    below = (entry for path in paths for entry in _below(folder, tree, path))
    return {entry.path: (entry.mode, entry.oid) for entry in below}


def blob(folder: Path, oid: str) -> bytes | None:
    """Return the bytes of a file by its object id, None if it is missing. Raises ValueError for a
    text that is no id.
    """
    if not is_full_id(oid):
        raise ValueError(f"{oid!r} is no object id")
    answer = git(folder, "cat-file", "blob", oid, ok=(0, 1, 128))
    return answer.out if answer.code == 0 else None


def sizes(folder: Path, ref: str, paths: Collection[str]) -> dict[str, int]:
    """Return the sizes in bytes of the existing files at `ref`, without reading them."""
    entries = entries_of(folder, tree_id(folder, ref))
    wanted = {path: entries[path].oid for path in paths if path in entries}
    stdin = "".join(f"{oid}\n" for oid in dict.fromkeys(wanted.values())).encode()
    listed = git(folder, "cat-file", "--batch-check", stdin=stdin, seconds=LONG).line
    # `<oid> SP <kind> SP <size>`, or `<oid> SP missing`, as of a submodule's commit.
    rows_of_blobs = (row.split(" ") for row in listed.split("\n") if " blob " in row)
    known = {oid: int(size) for oid, _, size in rows_of_blobs}
    return {path: known[oid] for path, oid in wanted.items() if oid in known}


def list_files(folder: Path, ref: str, under: str = "") -> tuple[str, ...]:
    """Names of all files at `ref`, or of those in one folder, from the top of the tree. Submodules
    are not files.
    """
    below = _below(folder, tree_id(folder, ref), under)
    return tuple(entry.path for entry in below if entry.mode != SUBMODULE)


def _below(folder: Path, tree: str, path: str) -> Sequence[FileVersion]:
    """Return the file at a path in a tree, or those in the folder that it is."""
    place, entries = _plain(path), entries_of(folder, tree)
    if place is None or (place and place not in entries):
        return ()
    if place and entries[place].mode != _FOLDER:
        return (entries[place],)
    start = f"{place}/" if place else ""
    below = (entry for name, entry in entries.items() if name.startswith(start))
    return [entry for entry in below if entry.mode != _FOLDER]


def raw(folder: Path, oids: Sequence[str]) -> dict[str, bytes]:
    """Contents by object id, from one process (git-cat-file(1))."""
    contents: dict[str, bytes] = {}
    for oid, answer in zip(oids, read_objects(folder, oids), strict=True):
        if answer is None or answer.kind != "blob":
            raise GitFailed(
                f"The object {oid} is missing in {folder}.",
                hint="`git fsck` says what is broken; a fresh clone mends it.",
            )
        contents[oid] = answer.data
    return contents


def _plain(path: str) -> str | None:
    """A path inside the tree without empty steps; empty for the top, None for what leads out."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\0" in path:
        return None
    return str(parts) if parts.parts else ""
