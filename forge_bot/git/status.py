"""What is not committed in a work tree, file by file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forge_bot.git.process import git

Kind = Literal["added", "modified", "deleted", "untracked", "conflicted"]
_UNMERGED = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})


@dataclass(frozen=True, slots=True)
class StatusEntry:
    """A path from the top of the tree, and how it differs from the last commit. A nested repository ends in a slash."""

    path: str
    kind: Kind


def changes(folder: Path) -> tuple[StatusEntry, ...]:
    """All uncommitted changes: staged or not, untracked files one by one, ignored files not.

    Uncommitted work inside a submodule does not count, since no commit of this repository could take it.
    """
    # Format: git-status(1), "Porcelain Format Version 1" with -z. Without renames each entry is one path.
    listing = git(
        folder,
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignored=no",
        "--ignore-submodules=dirty",
    )
    return tuple(StatusEntry(row[3:], _kind(row[:2])) for row in listing.names)


def untracked(folder: Path) -> tuple[str, ...]:
    """Return what is not tracked, ignored files included; a folder without tracked files is one entry with a slash at its end."""
    return git(folder, "ls-files", "--others", "--directory", "-z").names


def _kind(code: str) -> Kind:
    if code == "??":
        return "untracked"
    if code in _UNMERGED:
        return "conflicted"
    if "D" in code:
        return "deleted"
    return "added" if code[0] == "A" else "modified"
