"""All branches of a repository and of its remotes, at one moment."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from forge_bot.git.process import git
from forge_bot.git.remotes import REMOTES, Tracking
from forge_bot.git.revisions import HEADS

_FORM = "%(refname)%00%(objectname)%00%(symref)%00"
_WITH_TREES = f"{_FORM}%(worktreepath)%00"
_ORIGIN_HEAD = f"{REMOTES}origin/HEAD"


@dataclass(frozen=True, slots=True)
class LocalTip:
    """The newest commit of a local branch, and the work tree that has the branch checked out, where
    that was asked for.
    """

    commit: str
    tree: Path | None


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
        names = (ref.removeprefix(start) for ref in self._refs if ref.startswith(start))
        return tuple(name for name in names if name != "HEAD")


class BranchTips:
    """The tips of all branches at one moment. The configuration is read when it is first needed."""

    def __init__(
        self, root: Path, local: dict[str, LocalTip], followed: dict[str, str], origin: str
    ) -> None:
        self._root = root
        self._followed = followed
        self._origin = origin
        self.local = local

    @property
    def names(self) -> BranchNames:
        """The names alone."""
        return BranchNames([*(f"{HEADS}{name}" for name in self.local), *self._followed])

    @cached_property
    def remote(self) -> dict[Tracking, str]:
        """The branches of all remotes with their commits, without the remotes' HEADs."""
        remotes = {
            key.removeprefix("remote.").rpartition(".")[0]
            for key in (self._settings if self._followed else ())
            if key.startswith("remote.")
        }
        branches = ((_tracking(ref, remotes), commit) for ref, commit in self._followed.items())
        return {tracking: commit for tracking, commit in branches if tracking is not None}

    @cached_property
    def default(self) -> str | None:
        """Origin's default branch; else the first of init.defaultBranch, main and master that
        exists here.
        """
        if self._origin.startswith(f"{REMOTES}origin/"):
            return self._origin.removeprefix(f"{REMOTES}origin/")
        configured = self._settings.get("init.defaultbranch", "")
        return next(
            (name for name in (configured, "main", "master") if name and name in self.local), None
        )

    @cached_property
    def _settings(self) -> dict[str, str]:
        wanted = r"^(remote\..*|init\.defaultbranch)$"
        rows = git(self._root, "config", "--null", "--get-regexp", wanted, ok=(0, 1)).names
        return {key: value for key, _, value in (row.partition("\n") for row in rows)}


def branch_tips(root: Path, *, trees: bool = False, only: Sequence[str] = ()) -> BranchTips:
    """Return the tips of all branches.

    No object is read, so a broken one does not matter. With `trees` each work tree is read too,
    however many there are. With `only`, the local branches of that name or below that name are
    read, and no other of a thousand.
    """
    wanted = [*(f"{HEADS}{name}" for name in only or ("",)), REMOTES]
    form, size = (_WITH_TREES, 4) if trees else (_FORM, 3)
    parts = git(root, "for-each-ref", f"--format={form}", *wanted).line.split("\0")
    # Each record ends with NUL and a line end; a path may hold line ends, and no NUL.
    return _tips(
        root,
        [
            (
                parts[at].removeprefix("\n"),
                parts[at + 1],
                parts[at + 2],
                Path(parts[at + 3]) if trees and parts[at + 3] else None,
            )
            for at in range(0, len(parts) - size, size)
        ],
    )


def branch_names(root: Path) -> BranchNames:
    """Return the names of all branches."""
    return branch_tips(root).names


_Row = tuple[str, str, str, Path | None]
"""The full name of a ref, its commit, the ref that it names instead, and a work tree."""


def _tips(root: Path, rows: Sequence[_Row]) -> BranchTips:
    local = {
        name.removeprefix(HEADS): LocalTip(commit, path if path and path.is_dir() else None)
        for name, commit, _, path in rows
        if name.startswith(HEADS)
    }
    followed = {
        name: commit for name, commit, link, _ in rows if name.startswith(REMOTES) and not link
    }
    origin = next((link for name, _, link, _ in rows if name == _ORIGIN_HEAD), "")
    return BranchTips(root, local, followed, origin)


def _tracking(name: str, remotes: set[str]) -> Tracking | None:
    """Return the remote and the branch behind a ref. The name of a remote may have slashes too; the
    longest that fits is meant.
    """
    ref = name.removeprefix(REMOTES)
    fitting = [remote for remote in remotes if remote and ref.startswith(f"{remote}/")]
    remote = max(fitting, key=len, default="")
    return Tracking(remote, ref.removeprefix(f"{remote}/")) if remote else None
