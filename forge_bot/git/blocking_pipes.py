"""Named pipes where git reads a file: git waits there for ever, and so does every git after it."""

import os
import stat
from pathlib import Path

_READ_BY_GIT = frozenset({".gitignore", ".gitattributes"})
_GITS_OWN = ".git"


def remove_pipes(folder: Path) -> bool:
    """Remove the named pipes of a work tree that have the names of files that git reads, and those
    in nested repositories; return whether there were any.

    No project keeps one there. Links are not followed.
    """
    found = [
        place
        for at, folders, files in os.walk(folder)
        for place in _pipes(folder, Path(at), folders, files)
    ]
    for place in found:
        place.unlink(missing_ok=True)
    return bool(found)


def _pipes(top: Path, at: Path, folders: list[str], files: list[str]) -> list[Path]:
    if at == top and _GITS_OWN in folders:
        # Commands cannot write there.
        folders.remove(_GITS_OWN)
    inside = _GITS_OWN in at.relative_to(top).parts
    named = [at / name for name in files if inside or name in _READ_BY_GIT]
    return [place for place in named if stat.S_ISFIFO(place.lstat().st_mode)]
