"""A repository, found from any folder inside one of its work trees, made out of a folder, or
cloned.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from forge_bot.errors import BranchExists, GitFailed, GitMissing, NotARepository
from forge_bot.forge import OWN_ADDRESS
from forge_bot.git import commits, files_at, remotes, revisions, uncommitted_work, worktree
from forge_bot.git.files_at import read_objects
from forge_bot.git.process import Given, OfFolder, Result, git
from forge_bot.git.remotes import clone_with_token
from forge_bot.git.revisions import REMOTES, branches, list_refs, remote_branches, tips_since

_OLDEST = (2, 34)
_ORIGIN_HEAD = "refs/remotes/origin/"
_SHORT = 15.0
_NOT_FOUND = {
    "not a git repository": "is not inside a git repository",
    "must be run in a work tree": "is a bare repository or git's own folder: no files are there",
}


class _OfRoot(OfFolder[Given, Result]):
    def __get__(self, owner: "Repository", _kind: type) -> Callable[Given, Result]:
        return self.bound(owner.root)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository seen from one of its work trees.

    `root` is the top of that work tree; `common_dir` is git's own folder, which all work trees
    share.
    """

    root: Path
    common_dir: Path

    @property
    def kept(self) -> Path:
        """The folder of forge-bot's own files, beside git's data; all work trees share it."""
        return self.common_dir / "forge-bot"

    # Branches, remotes, and what they name.
    head = _OfRoot(revisions.head)
    refs = _OfRoot(list_refs)
    tips_since = _OfRoot(tips_since)
    branches = _OfRoot(branches)
    remote_branches = _OfRoot(remote_branches)
    commit_id = _OfRoot(revisions.commit_id)
    tree_id = _OfRoot(revisions.tree_id)
    fetch = _OfRoot(remotes.fetch)
    remote_url = _OfRoot(remotes.remote_url)
    pushed = _OfRoot(remotes.pushed)
    take_over = _OfRoot(remotes.take_over)
    make_bundle = _OfRoot(remotes.make_bundle)
    open_bundle = _OfRoot(remotes.open_bundle)
    signature = _OfRoot(commits.identity)

    # Files at a commit.
    read = _OfRoot(files_at.read)
    read_many = _OfRoot(files_at.read_many)
    objects = _OfRoot(files_at.objects)
    read_objects = _OfRoot(read_objects)
    blobs_here = _OfRoot(uncommitted_work.blobs_here)
    blob = _OfRoot(files_at.blob)
    sizes = _OfRoot(files_at.sizes)
    list_files = _OfRoot(files_at.list_files)

    # Work trees.
    worktrees = _OfRoot(worktree.listed)
    is_checked_out = _OfRoot(worktree.is_checked_out)
    add_worktree = _OfRoot(worktree.add)
    detached_tree = _OfRoot(worktree.detached)
    export = _OfRoot(worktree.export)
    show_commit = _OfRoot(worktree.show)
    remove_tree = _OfRoot(worktree.remove)
    has_tree = _OfRoot(worktree.is_tree)
    mend_worktree = _OfRoot(worktree.mend)
    tree_of = _OfRoot(worktree.tree_of)

    @staticmethod
    def find(path: Path) -> "Repository":
        """The repository around a folder or file. Raises NotARepository, also for a bare one, and
        GitMissing.
        """
        start = path.parent if path.is_file() else path
        _check_version(os.environ.get("PATH", ""))
        asked = ("--is-inside-work-tree", "--git-common-dir", "--show-toplevel")
        try:
            _, common_dir, top = git(start, "rev-parse", *asked, upwards=True).line.split("\n")
        except GitFailed as error:
            if why := next((why for sign, why in _NOT_FOUND.items() if sign in error.output), ""):
                # "." in a sentence tells nobody which folder it is.
                raise NotARepository(f"{path.absolute()} {why}.") from None
            raise
        return Repository(Path(top).resolve(), Path(start, common_dir).resolve())

    def default_branch(self) -> str | None:
        """Return origin's default branch; without one, the first of init.defaultBranch, main
        and master that exists.
        """
        words = ("symbolic-ref", "--quiet", f"{_ORIGIN_HEAD}HEAD")
        origin = git(self.root, *words, ok=(0, 1, 128)).line
        if origin.startswith(_ORIGIN_HEAD):
            return origin.removeprefix(_ORIGIN_HEAD)
        configured = git(self.root, "config", "--get", "init.defaultBranch", ok=(0, 1)).line
        return next(
            (name for name in (configured, "main", "master") if name and self.branch_exists(name)),
            None,
        )

    def branch_exists(self, name: str) -> bool:
        """Return whether there is a local branch of exactly that name. A text that cannot be a name
        has none.
        """
        ref = revisions.HEADS + name
        return revisions.is_ref(self.root, ref) and revisions.ref_target(self.root, ref) is not None

    def take(self, remote: str, branch: str) -> None:
        """Make a local branch from a remote's. Raises GitFailed when there is one of that name."""
        revisions.branch_ref(self.root, branch)
        git(self.root, "branch", "--quiet", "--track", branch, f"{REMOTES}{remote}/{branch}")

    def start_branch(self, name: str) -> None:
        """Check out a new branch in this work tree at its present commit; uncommitted work is kept.
        Raises BadOption, BranchExists, GitFailed.
        """
        revisions.branch_ref(self.root, name)
        if self.branch_exists(name):
            raise BranchExists(f"The branch {name} exists already.")
        git(self.root, "switch", "--quiet", "--create", name)

    def contains(self, commit: str, other: str) -> bool:
        """Return whether a commit is the other one or one of its descendants, both by their full
        ids; False if one of them is missing.
        """
        return revisions.is_ancestor(self.root, other, commit)

    def tag_elsewhere(self, address: str, tag: str) -> str | None:
        """Return the commit of a tag in another repository; None for a missing tag, and without an
        answer within a few seconds.
        """
        wanted = f"refs/tags/{tag}"
        try:
            words = ("ls-remote", "--quiet", "--", address, wanted, f"{wanted}^{{}}")
            listed = git(self.root, *words, seconds=_SHORT).line
        except GitFailed:
            return None
        # An annotated tag is an object of its own; what it stands for comes behind it, with ^{}.
        commits = [line.partition("\t")[0] for line in listed.splitlines()]
        return commits[-1] if commits else None


@lru_cache(maxsize=8)
def _check_version(_path: str) -> None:
    """Raise GitMissing if git is too old: asked once for each path of programs."""
    version_line = git(Path("/"), "version", upwards=True).line
    version = re.search(r"(\d+)\.(\d+)", version_line)
    if version and (int(version[1]), int(version[2])) < _OLDEST:
        raise GitMissing(f"{version_line} is too old.")


def make_repository(folder: Path, message: str) -> Repository:
    """Put everything in `folder` into the first commit of a new repository on the branch main."""
    git(folder, "init", "--quiet", "--initial-branch=main", "--template=", ".")
    git(folder, "add", "--all")
    name, address = "user.name=forge-bot", f"user.email={OWN_ADDRESS}"
    git(folder, "-c", name, "-c", address, "commit", "--quiet", "-m", message)
    return Repository.find(folder)


def clone_repository(address: str, folder: Path) -> Repository:
    """Make a copy with all branches and their history, and no files checked out. An existing one is
    updated.

    Git handles the credentials; they are not written into the copy.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        options = ("--quiet", "--no-checkout", "--no-tags", "--template=")
        clone_with_token(address, folder, *options)
    repository = Repository.find(folder)
    repository.fetch()
    return repository
