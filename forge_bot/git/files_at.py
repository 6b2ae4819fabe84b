"""The names and contents of files in a commit, independent of the work tree."""

import hashlib
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from forge_bot.errors import GitFailed
from forge_bot.git.objects import SUBMODULE, ListedEntry, files_below, find, read_objects, rows
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import is_full_id, tree_id


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
    return _read(folder, tree_id(folder, ref), path)


@lru_cache(maxsize=32)
def _read(folder: Path, tree: str, path: str) -> bytes | None:
    """Read a file. Trees never change, so the contents of files in use are cached."""
    return _many(folder, tree, (path,)).get(path)


def read_many(folder: Path, ref: str, paths: Collection[str]) -> dict[str, bytes]:
    """Return the bytes of the existing files at `ref`, as `read` gives them, with few calls of git
    for any number of files.

    All of it is held in memory. Raises GitFailed if `ref` names nothing.
    """
    return _many(folder, tree_id(folder, ref), paths)


def _many(folder: Path, tree: str, paths: Collection[str]) -> dict[str, bytes]:
    wanted = {path: plain for path in paths if (plain := _plain(path))}
    oids = {
        path: entry.oid
        for path, plain in wanted.items()
        if (entry := find(folder, tree, plain)) is not None and entry.kind == "blob"
    }
    data = raw(folder, tuple(dict.fromkeys(oids.values())))
    return {path: data[oid] for path, oid in oids.items()}


def objects(folder: Path, ref: str, paths: Collection[str]) -> dict[str, str]:
    """Return mode and object id of existing paths at `ref`; for a folder, of all files in it."""
    tree = tree_id(folder, ref)
    return {
        name: f"{entry.mode} {entry.oid}"
        for path in paths
        for name, entry in _below(folder, tree, _plain(path))
    }


def blobs(folder: Path, ref: str) -> dict[str, tuple[str, str]]:
    """Return mode and object id of every file at `ref`; a submodule has the id of its commit."""
    files = files_below(folder, tree_id(folder, ref))
    return {path: (mode, oid) for path, (mode, oid) in files}


def submodules(folder: Path, ref: str) -> tuple[str, ...]:
    """Return the folders at `ref` that are other repositories."""
    files = files_below(folder, tree_id(folder, ref))
    return tuple(path for path, entry in files if entry.mode == SUBMODULE)


_NEW = "?"
_DIFFERENT = "RCK"
"""Git's letters for files that are gone, changed, or block one of the index."""


def blobs_here(folder: Path) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
    """Return mode and object id of every file in the index, and the paths that are changed, new or
    missing in the work tree.
    """
    options = ("--cached", "--modified", "--deleted", "--others", "--exclude-standard")
    known: dict[str, tuple[str, str]] = {}
    changed: dict[str, None] = {}
    for row in git(folder, "ls-files", "-z", "-t", "--stage", *options).names:
        # A letter, and of what is in the index its mode, id, stage and, after a tab, its path.
        if row[0] == _NEW:
            changed[row[2:]] = None
            continue
        about, _, path = row.partition("\t")
        if row[0] in _DIFFERENT:
            changed[path] = None
        else:
            _, mode, oid, _ = about.split(" ")
            known[path] = (mode, oid)
    return known, tuple(changed)


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
    tree = tree_id(folder, ref)
    entries = {path: find(folder, tree, path) for path in paths}
    wanted = {path: entry.oid for path, entry in entries.items() if entry is not None}
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
    tree = tree_id(folder, ref)
    place = _plain(under)
    return _listed(folder, tree, place) if place is not None else ()


def list_folders(folder: Path, ref: str, under: str) -> dict[str, str]:
    """The folders directly in one folder at `ref`, by name, each with the id of its tree: equal
    ids, equal contents.
    """
    tree, place = tree_id(folder, ref), _plain(under)
    entry = find(folder, tree, place) if place else None
    inside = rows(folder, entry.oid) if entry is not None and entry.kind == "tree" else {}
    return {name: entry.oid for name, entry in inside.items() if entry.kind == "tree"}


@lru_cache(maxsize=8)
def _listed(folder: Path, tree: str, place: str) -> tuple[str, ...]:
    """Cache the lists of the trees in use."""
    return tuple(path for path, entry in _below(folder, tree, place) if entry.mode != SUBMODULE)


def _below(folder: Path, tree: str, place: str | None) -> Sequence[tuple[str, ListedEntry]]:
    """Return the file at a place in a tree, or those in the folder that it is."""
    entry = find(folder, tree, place) if place else None
    if place == "":
        return files_below(folder, tree)
    if place and entry is not None and entry.kind == "tree":
        return files_below(folder, entry.oid, f"{place}/")
    return ((place, entry),) if place and entry is not None else ()


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
