"""All refs of a repository at one moment."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.process import git
from forge_bot.git.revisions import HEADS

REMOTES = "refs/remotes/"
ENDED = "refs/forge-bot/runs/"
"""The refs with the records of ended runs."""

ENDED_AT_ORIGIN = "refs/forge-bot/runs-of-origin/"
"""The same refs of the remote, as the last fetch saw them."""

_FORM = "%(refname)%00%(objectname)%00%(symref)%00%(worktreepath)%00"


class Ref(NamedTuple):
    """A ref with its full name, its object, and the work tree that has it checked out."""

    name: str
    commit: str
    tree: Path | None


def list_refs(root: Path, *under: str) -> tuple[Ref, ...]:
    """Return the refs below some beginnings of names, without those that only name another one. No
    object is read.
    """
    # Each record ends with NUL and a line end; a path may hold line ends, and no NUL.
    parts = git(root, "for-each-ref", f"--format={_FORM}", *under).line.split("\0")
    rows = zip(parts[0::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
    return tuple(
        Ref(name.removeprefix("\n"), commit, Path(tree) if tree and Path(tree).is_dir() else None)
        for name, commit, link, tree in rows
        if not link
    )


class BranchNames:
    """The names of all branches at the same time."""

    def __init__(self, refs: Iterable[str]) -> None:
        self._refs = tuple(refs)
        self.local: Collection[str] = dict.fromkeys(
            name.removeprefix(HEADS) for name in self._refs if name.startswith(HEADS)
        )

    def with_local(self, branch: str) -> "BranchNames":
        """Return these names and that of a branch that is to be made here."""
        return BranchNames((*self._refs, f"{HEADS}{branch}"))

    def at_origin(self) -> tuple[str, ...]:
        """Return the names of origin's branches, without its HEAD."""
        start = f"{REMOTES}origin/"
        return tuple(ref.removeprefix(start) for ref in self._refs if ref.startswith(start))


def branch_names(root: Path) -> BranchNames:
    """Return the names of all branches."""
    return BranchNames(ref.name for ref in list_refs(root, HEADS, REMOTES))
