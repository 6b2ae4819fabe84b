"""The work trees of a repository: listed, and one with its branch made, filled, shown, mended,
removed.
"""

import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from forge_bot.errors import ForgeError, GitFailed
from forge_bot.git import commit_history as differences
from forge_bot.git import commits as made_commits
from forge_bot.git import remotes, revisions, uncommitted_work
from forge_bot.git.commit_history import CommitInfo, first_parents
from forge_bot.git.process import LONG, Given, OfFolder, Result, git
from forge_bot.git.revisions import HEADS, branch_ref, commit_id


class _OfTree(OfFolder[Given, Result]):
    def __get__(self, owner: "Tree", _kind: type) -> Callable[Given, Result]:
        return self.bound(owner.path)


@dataclass(frozen=True, slots=True)
class Tree:
    """A work tree, by its top folder. All paths given or returned count from there.

    `beside` names the branch that the files belong to, where another one is checked out: that one
    and the index stay as they are.
    """

    path: Path
    beside: str = ""

    # What is there.
    untracked = _OfTree(uncommitted_work.untracked)
    ignored_beside = _OfTree(uncommitted_work.ignored_beside)
    would_ignore = _OfTree(uncommitted_work.would_ignore)

    # Differences between commits, and patches.
    changed = _OfTree(differences.changed)
    diff = _OfTree(differences.diff)
    apply = _OfTree(uncommitted_work.apply)

    # Changes of the files and the branch.
    commit = _OfTree(made_commits.commit)
    has_locks = _OfTree(revisions.has_locks)
    rescue = _OfTree(uncommitted_work.rescue)
    remove_nested = _OfTree(uncommitted_work.remove_nested)
    unlock = _OfTree(revisions.unlock)
    push = _OfTree(remotes.push)
    unpushed = _OfTree(remotes.unpushed)
    give_way = _OfTree(remotes.give_way)

    @property
    def tip(self) -> str:
        """The name of the newest commit of the tree's branch."""
        return HEADS + self.beside if self.beside else "HEAD"

    def commit_id(self) -> str:
        """Return the id of the newest commit of the branch; the one checked out if detached."""
        return revisions.commit_id(self.path, self.tip)

    def head(self) -> revisions.Head:
        """Return the tree's branch and its newest commit. Raises DetachedHead or NoCommits."""
        if self.beside:
            return revisions.Head(self.beside, self.commit_id())
        return revisions.head(self.path)

    def commits(self, since: str | None = None) -> tuple[CommitInfo, ...]:
        """Return the branch's commits along the first parents, without those of `since`, the newest
        first.
        """
        return first_parents(self.path, since, self.tip)[::-1]

    def last_author(self, path: str) -> str:
        """Return the author's name of the last commit that changed a file; empty without one."""
        return made_commits.last_author(self.path, path, tip=self.tip)

    def status(self) -> tuple[uncommitted_work.StatusEntry, ...]:
        """Return the changes since the branch's newest commit: staged or not, untracked files one
        by one, ignored files not.
        """
        return uncommitted_work.status(self.path, self.beside)

    def patch(self, paths: Sequence[str]) -> str:
        """Return the changes of these files since the branch's newest commit, for `apply`."""
        return uncommitted_work.patch(self.path, paths, since=self.tip)

    def discard(self, paths: Sequence[str]) -> None:
        """Restore each named file from the branch, or remove it if that does not have it."""
        uncommitted_work.discard(self.path, paths, self.tip)

    def match_index(self, paths: Sequence[str]) -> None:
        """Make these files in the index those of the newest commit, if that is checked out."""
        if not self.beside:
            made_commits.match_index(self.path, paths)

    def move_forward(self, commit: str) -> None:
        """Move the branch and the files to a commit that came after. Raise GitFailed, and leave all
        as it was, where uncommitted work or an untracked file is in the way.
        """
        uncommitted_work.move_forward(self.path, commit, self.beside)

    def check_out(self, branch: str) -> None:
        """Check out a branch in a clean tree. Raises GitFailed."""
        git(self.path, "switch", "--quiet", branch, seconds=LONG)

    def take_in(self, commit: str) -> None:
        """Move the branch to a commit, and make the files those of the commit."""
        here = self.head()
        # The old value makes git refuse when the branch has moved meanwhile.
        git(self.path, "update-ref", HEADS + here.branch, commit, here.commit)
        git(self.path, "reset", "--quiet", "--hard", seconds=LONG)


@dataclass(frozen=True, slots=True)
class WorktreeInfo:
    """A registered work tree. `branch` is None when it is detached or bare; prunable ones have lost
    their folder.
    """

    path: Path
    branch: str | None
    prunable: bool
    lock_reason: str = ""


def listed(root: Path) -> tuple[WorktreeInfo, ...]:
    """All registered work trees, the main one first (git-worktree(1), "Porcelain Format")."""
    # Without -z, which git knows only since 2.36: paths with line ends are not told whole.
    entries = git(root, "worktree", "list", "--porcelain").line.split("\n\n")
    return tuple(_info(entry) for entry in entries if entry.startswith("worktree "))


def is_checked_out(root: Path, branch: str) -> bool:
    """Return whether a registered work tree has this branch checked out, be its folder there or
    not.
    """
    return any(info.branch == branch for info in listed(root))


def _info(entry: str) -> WorktreeInfo:
    facts = {key: value for key, _, value in (line.partition(" ") for line in entry.splitlines())}
    path, ref = Path(facts["worktree"]), facts.get("branch", "")
    return WorktreeInfo(
        path=path,
        branch=ref.removeprefix(HEADS) if ref.startswith(HEADS) else None,
        prunable="prunable" in facts or ("locked" not in facts and not path.exists()),
        lock_reason=facts.get("locked", ""),
    )


# Git holds this lock on a work tree while it makes it (builtin/worktree.c); it stays behind when
# git is killed.
_INITIALIZING = "initializing"
_PATIENCE = 10.0


def tree_of(root: Path, branch: str) -> Tree | None:
    """The work tree that has this branch checked out, if its folder is there."""
    return next(
        (Tree(info.path) for info in listed(root) if info.branch == branch and info.path.is_dir()),
        None,
    )


def add(root: Path, path: Path, branch: str) -> Tree:
    """Make a work tree at `path` on a branch that exists, here or on one remote.

    Raises BadOption for a name that git does not take, and GitFailed when files stand in the way or
    git refuses; then no folder is left behind.
    """
    path = path.absolute()
    branch_ref(root, branch)
    known = _clear_leftovers(root, path, branch)
    if any(info.branch == branch and _same(info.path, path) for info in known):
        return Tree(path.resolve())
    _require_room(path)
    try:
        git(root, "worktree", "add", "--quiet", "--", str(path), branch, seconds=LONG)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(ForgeError):
            remove(root, path)
        raise
    return Tree(path.resolve())


def detached(root: Path, path: Path, commit: str) -> Tree:
    """Make a work tree at `path` that is at a commit and on no branch.

    An old one there is replaced, also one of a clone that is gone: it holds nobody's work. Raises
    GitFailed, also if the path is taken by anything else than a work tree.
    """
    path = path.absolute()
    remove(root, path)
    if _lost_its_link(path):
        shutil.rmtree(path)
    _require_room(path)
    place = ("--", str(path), commit_id(root, commit))
    git(root, "worktree", "add", "--quiet", "--detach", *place, seconds=LONG)
    return Tree(path.resolve())


def export(root: Path, commit: str, path: Path) -> None:
    """Write the files of a commit into a new folder, which is no work tree."""
    with TemporaryDirectory(prefix="export-", dir=path.parent) as scratch:
        env = {"GIT_INDEX_FILE": f"{scratch}/index"}
        git(root, "read-tree", commit_id(root, commit), env=env)
        files = Path(scratch) / "files"
        files.mkdir()
        git(root, "checkout-index", "--all", f"--prefix={files}/", env=env, seconds=LONG)
        files.rename(path)


def show(root: Path, path: Path, commit: str) -> Tree:
    """Return the detached work tree at `path` with the files of a commit; it is added when it is
    missing.

    Untracked files stay. An untracked file that the commit has is replaced. Locks that a killed git
    left there are taken away: nobody else works in such a tree.
    """
    if not is_tree(root, path):
        return detached(root, path, commit)
    _let_finish(path)
    words = ("checkout", "--quiet", "--force", "--detach", commit_id(root, commit))
    git(path, *words, seconds=LONG)
    return Tree(path.resolve())


def remove(root: Path, path: Path) -> None:
    """Take away the work tree at `path` with all that is in it, if there is one."""
    if _is_listed(root, path):
        _let_finish(path)
        # The folder by hand: git refuses one without its link file, as one that is half made or
        # half gone. A registration without a folder it does remove.
        shutil.rmtree(path, ignore_errors=True)
        git(root, "worktree", "remove", "--force", "--force", "--", str(path.absolute()))


def is_tree(root: Path, path: Path) -> bool:
    """Return whether the folder at `path` is a work tree of this repository."""
    return path.is_dir() and _is_listed(root, path)


def mend(root: Path, path: Path) -> None:
    """Link a work tree and its repository anew if either was moved (git-worktree(1), "repair")."""
    if _lost_its_link(path):
        git(root, "worktree", "repair", "--", str(path))


def _lost_its_link(path: Path) -> bool:
    """Return whether a work tree names a folder of git that is not there."""
    link = path / ".git"
    return link.is_file() and not revisions.named_folder(link).is_dir()


def _clear_leftovers(root: Path, path: Path, branch: str) -> list[WorktreeInfo]:
    """Forget registrations in the way: half made at this path, or without a folder and at this path
    or on this branch; the others.
    """
    left: list[WorktreeInfo] = []
    for info in listed(root):
        here = _same(info.path, path)
        if here and info.lock_reason == _INITIALIZING and info.branch in {None, branch}:
            remove(root, path)
        elif info.prunable and (here or info.branch == branch):
            git(root, "worktree", "remove", "--force", "--", str(info.path))
        else:
            left.append(info)
    return left


def _let_finish(left: Path) -> None:
    """Wait for a git that fills a work tree and has outlived the process which had started it: it
    would put files back.
    """
    if revisions.has_locks(left):
        revisions.unlock(left, seconds=_PATIENCE)


def _require_room(path: Path) -> None:
    """Raise GitFailed if the path exists.

    An empty folder is no obstacle: git takes it, and a killed `worktree add` leaves one.
    """
    if path.is_symlink() or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
        raise GitFailed(
            f"{path} is not empty, so no work tree can be made there.",
            hint="Move it away if you do not need it.",
        )


def _is_listed(root: Path, path: Path) -> bool:
    return any(_same(info.path, path) for info in listed(root))


def _same(a: Path, b: Path) -> bool:
    # Another process may remove either while it is looked at.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return a.samefile(b)
    return a.exists() == b.exists() and a.resolve() == b.resolve()
