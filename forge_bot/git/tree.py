"""One work tree on one branch: what stands in it, what was committed, and how it changes."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge_bot.git import bundles, commits, current_head, diff, discard, names, push, remote_branches, rescue, snapshot, stale_locks, status

MAX_DIFF = 200_000


@dataclass(frozen=True, slots=True)
class Tree:
    """A work tree, by its top folder. All paths given or returned count from there."""

    path: Path

    def head(self) -> current_head.Head:
        """Branch and newest commit. Raises DetachedHead or NoCommits."""
        return current_head.head(self.path)

    def status(self) -> tuple[status.StatusEntry, ...]:
        """Uncommitted changes, untracked files included, ignored ones not."""
        return status.changes(self.path)

    def commit_id(self) -> str:
        """Return the id of the commit that is checked out, on a branch or detached."""
        return names.commit_id(self.path, "HEAD")

    def untracked(self) -> tuple[str, ...]:
        """Return what is not tracked, ignored files included; a folder without tracked files is one entry that ends in a slash."""
        return status.untracked(self.path)

    def is_clean(self) -> bool:
        """Whether `status` is empty."""
        return not self.status()

    def commit(
        self, message: str, trailers: Sequence[tuple[str, str]], paths: Sequence[str] | None = None, *, when: str | None = None
    ) -> str | None:
        """Commit all changes, or exactly those of the named files and folders (even ignored ones). None when there are none.

        The author is the user, or forge-bot where git knows no name and address. Hooks do not run; nothing is signed.
        `when` is an ISO 8601 time. Raises DetachedHead, NoCommits, GitFailed; ValueError for no message or a bad key.
        """
        return commits.commit(self.path, message, trailers, paths, when=when)

    def commits(self, since: str | None = None) -> tuple[commits.Commit, ...]:
        """Commits of the branch, or those that came after `since`, newest first."""
        return commits.log(self.path, since)

    def rescue(self, name: str) -> str | None:
        """Put uncommitted work aside under refs/forge-bot/rescued/<name> and clean the tree; the ref, or None if it was clean."""
        return rescue.rescue(self.path, name)

    def diff(self, base: str, head: str = "HEAD", paths: Sequence[str] = (), *, stat: bool = False, max_bytes: int = MAX_DIFF) -> str:
        """Unified diff (or table of changed lines) from one commit to another; give `merge_base` as base for what a branch did.

        Text for reading: longer than `max_bytes` it is cut, and a last line says so.
        """
        return diff.diff(self.path, base, head, paths, stat=stat, max_bytes=max_bytes)

    def changed(self, base: str, head: str = "HEAD") -> tuple[str, ...]:
        """Names of the files in which two commits differ."""
        return diff.changed(self.path, base, head)

    def working_diff(self, max_bytes: int = MAX_DIFF) -> str:
        """Uncommitted changes as a diff for reading, new files included; cut like `diff`."""
        return snapshot.working_diff(self.path, max_bytes)

    def patch(self, paths: Sequence[str] = ()) -> str:
        """Uncommitted changes, or those of named files, as a whole patch for `apply` in another tree at the same commit."""
        return snapshot.patch(self.path, paths)

    def apply(self, patch: str, *, without: Sequence[str] = (), only: Sequence[str] = ()) -> None:
        """Change the files as a patch says, all or none, but for those that `without` names. Raises GitFailed when it does not fit.

        With `only`, change only the files that one of its wildcards names.
        """
        snapshot.apply(self.path, patch, without=without, only=only)

    def patched(self, commit: str, patch: bytes, paths: Sequence[str]) -> dict[str, str] | None:
        """Return mode and id of the paths as a patch would make them at a commit; None if it does not fit. Nothing changes."""
        return snapshot.patched(self.path, commit, patch, paths)

    def push(self, remote: str = "origin", *, commit: str | None = None) -> None:
        """Push the branch, never by force, and set its upstream; with `commit` no more than that one, wherever the branch is by then.

        Raises GitFailed, whose hint says what to do.
        """
        push.push(self.path, remote, commit)

    def modes(self, base: str, head: str = "HEAD") -> dict[str, str]:
        """The file modes after a change by the names of the files that differ, as git writes them; 000000 for those that went."""
        return diff.modes(self.path, base, head)

    def unpushed(self, remote: str = "origin") -> bool:
        """Whether the branch has commits that the remote's did not have when it was last heard of."""
        return remote_branches.unpushed(self.path, remote)

    def merge_theirs(self, remote: str = "origin") -> None:
        """Merge what the remote's branch of the same name has. Raises GitFailed, with nothing changed, on a conflict."""
        remote_branches.merge_theirs(self.path, remote)

    def give_way(self, remote: str = "origin") -> str:
        """Put branch and files where the remote's branch is; the ref under which commits that are here only are kept."""
        return remote_branches.give_way(self.path, remote)

    def merge_base(self, a: str, b: str) -> str:
        """Id of the commit where two branches parted. Raises GitFailed when they have none in common."""
        return diff.merge_base(self.path, a, b)

    def discard(self, paths: Sequence[str]) -> None:
        """Put named files back to the last commit; those it does not have are removed. What they held is gone."""
        discard.discard(self.path, paths)

    def nested(self) -> frozenset[str]:
        """Return the folders that hold files of the last commit and are repositories of their own all the same."""
        return discard.nested(self.path)

    def remove_nested(self, keep: Collection[str] = ()) -> None:
        """Take git's own folder out of them, but for those to be kept."""
        discard.remove_nested(self.path, keep)

    def restore(self, commit: str, paths: Sequence[str]) -> None:
        """Make named files what they are at a commit; those that it does not have are removed. Raise GitFailed."""
        discard.restore(self.path, commit, paths)

    def unlock(self, *, seconds: float = 10.0) -> tuple[str, ...]:
        """Wait at most so long for git processes that outlived whoever started them, then take away locks of dead ones; their names.

        Only for a tree in which nobody but its run works.
        """
        return stale_locks.unlock(self.path, seconds=seconds)

    def take_in(self, commit: str, look: Callable[[], None]) -> None:
        """Move the branch to a commit that arrived, look, and only then check its files out. What `look` raises moves it back."""
        before = self.head().commit
        bundles.name_branch(self.path, commit, before)
        try:
            look()
        except BaseException:
            bundles.name_branch(self.path, before, commit)
            raise
        bundles.show_branch(self.path)
