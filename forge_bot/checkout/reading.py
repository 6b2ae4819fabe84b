"""Files as they stand in a commit: their names and bytes, whatever lies in the work tree."""

import hashlib
from pathlib import Path, PurePosixPath

from forge_bot.checkout.git import git
from forge_bot.checkout.naming import tree_id

_SUBMODULE = "160000"


def blob_id(data: bytes) -> str:
    """Git's id of a file with these bytes, as `git hash-object --no-filters` says: sha1 of `blob <length>` NUL bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def read(folder: Path, ref: str, path: str) -> bytes | None:
    """Bytes of a file at `ref`, None when there is no file of that name there. Of a link it gives the target's name.

    Raises GitFailed when `ref` names nothing.
    """
    tree = tree_id(folder, ref)
    parts = PurePosixPath(path)
    if not parts.parts or parts.is_absolute() or ".." in parts.parts or "\0" in path:
        return None
    entry = git(folder, "ls-tree", "-z", "--full-tree", tree, "--", str(parts)).out.rstrip(b"\0")
    about, tab, _ = entry.partition(b"\t")
    if not tab:
        return None
    _, kind, blob = about.split(b" ")
    return git(folder, "cat-file", "blob", blob.decode()).out if kind == b"blob" else None


def list_files(folder: Path, ref: str, under: str = "") -> tuple[str, ...]:
    """Names of all files at `ref`, or of those in one folder, from the top of the tree. Submodules are not files."""
    tree = tree_id(folder, ref)
    parts = PurePosixPath(under)
    if parts.is_absolute() or ".." in parts.parts:
        return ()
    place = ("--", str(parts)) if parts.parts else ()
    listing = git(folder, "ls-tree", "-r", "-z", "--full-tree", tree, *place)
    rows = (row.partition("\t") for row in listing.names)
    return tuple(name for about, _, name in rows if not about.startswith(_SUBMODULE))
