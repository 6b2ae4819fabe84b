"""A repository, found from any folder inside one of its work trees, made out of a folder, or
cloned.
"""

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from forge_bot.errors import BranchExists, GitFailed, GitMissing, NotARepository
from forge_bot.git import commits, files_at, missing_parts, remotes, revisions, worktree
from forge_bot.git.branch_tips import BranchTips, branch_tips
from forge_bot.git.missing_parts import Lfs
from forge_bot.git.object_reader import ObjectReader
from forge_bot.git.process import LONG, git
from forge_bot.git.worktree import Tree

_OLDEST = (2, 30)
_ORIGIN_HEAD = "refs/remotes/origin/"
_SHORT = 15.0


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository seen from one of its work trees.

    `root` is the top of that work tree; `common_dir` is git's own folder, which all work trees
    share.
    """

    root: Path
    common_dir: Path

    @staticmethod
    def find(path: Path) -> "Repository":
        """The repository around a folder or file. Raises NotARepository, also for a bare one, and
        GitMissing.
        """
        start = path.parent if path.is_file() else path
        _check_version(start, os.environ.get("PATH", ""))
        asked = ("--is-inside-work-tree", "--git-common-dir", "--show-toplevel")
        match git(start, "rev-parse", *asked, upwards=True, ok=(0, 128)).line.split("\n"):
            case ["true", common_dir, top]:
                return Repository(Path(top).resolve(), Path(start, common_dir).resolve())
            case _:
                return _find_with_care(start, path)

    def head(self) -> revisions.Head:
        """Branch and newest commit of the work tree. Raises DetachedHead or NoCommits."""
        return revisions.head(self.root)

    def default_branch(self) -> str | None:
        """Return origin's default branch; without one, the first of init.defaultBranch, main
        and master that exists.
        """
        answer = git(self.root, "symbolic-ref", "--quiet", f"{_ORIGIN_HEAD}HEAD", ok=(0, 1, 128))
        if answer.code == 0 and answer.line.startswith(_ORIGIN_HEAD):
            return answer.line.removeprefix(_ORIGIN_HEAD)
        wished = git(self.root, "config", "--get", "init.defaultBranch", ok=(0, 1)).line
        return next(
            (name for name in (wished, "main", "master") if name and self.branch_exists(name)), None
        )

    def branches(self) -> tuple[str, ...]:
        """Names of the local branches, in git's order of refs."""
        refs = git(self.root, "for-each-ref", "--format=%(refname)", revisions.HEADS).line
        return tuple(ref.removeprefix(revisions.HEADS) for ref in refs.split("\n") if ref)

    def tips(self) -> BranchTips:
        """Return the tips of all branches, those of remotes as the last fetch saw them; one
        process.
        """
        return branch_tips(self.root)

    def objects_by_id(self) -> ObjectReader:
        """A reader of any number of objects that fetches nothing."""
        return ObjectReader(self.common_dir)

    def branch_exists(self, name: str) -> bool:
        """Return whether there is a local branch of exactly that name; what cannot be a name is
        none.
        """
        return (
            revisions.is_branch_name(self.root, name)
            and revisions.ref_target(self.root, revisions.HEADS + name) is not None
        )

    def take(self, found: remotes.Tracking) -> None:
        """Make a local branch from a remote's. Raises GitFailed when there is one of that name."""
        revisions.branch_ref(self.root, found.branch)
        git(self.root, "branch", "--quiet", "--track", found.branch, found.ref)

    def start_branch(self, name: str) -> None:
        """Check out a new branch in this work tree where it stands, uncommitted work kept. Raises
        BadOption, BranchExists, GitFailed.
        """
        revisions.branch_ref(self.root, name)
        if self.branch_exists(name):
            raise BranchExists(f"The branch {name} exists already.")
        git(self.root, "switch", "--quiet", "--create", name)

    def pushed(self, branch: str, remote: str = "origin") -> bool:
        """Return whether the remote had this branch as it is here, when it was last spoken to."""
        there = revisions.ref_target(self.root, f"refs/remotes/{remote}/{branch}")
        return there is not None and there == revisions.ref_target(
            self.root, revisions.HEADS + branch
        )

    def at_a_remote(self, branch: str, commit: str) -> bool:
        """Return whether a remote's branch of that name had the commit when it was last spoken
        to.
        """
        return (
            git(
                self.root,
                "for-each-ref",
                "--count=1",
                f"--contains={commit}",
                f"{remotes.REMOTES}*/{branch}",
            ).line
            != ""
        )

    def contains(self, commit: str, other: str) -> bool:
        """Return whether a commit is the other one or came after it; False also if one of the two
        is not there. Both by their full ids.
        """
        return revisions.is_ancestor(self.root, other, commit)

    def remote_url(self, name: str = "origin") -> str | None:
        """Address of a remote, without credentials. None when there is no such remote."""
        return remotes.remote_url(self.root, name)

    def fetch(self, remote: str = "origin") -> None:
        """Learn what the remote's branches are now. Raises GitFailed."""
        refs = f"+{revisions.HEADS}*:{remotes.REMOTES}{remote}/*"
        options = ("--quiet", "--prune", "--no-tags", "--no-recurse-submodules")
        git(self.root, "fetch", *options, "--", remote, refs, seconds=LONG)

    def remote_branches(self, remote: str = "origin") -> tuple[str, ...]:
        """Names of the remote's branches as of the last fetch, without its HEAD."""
        start = f"{remotes.REMOTES}{remote}/"
        refs = git(self.root, "for-each-ref", "--format=%(refname)", start).line
        return tuple(
            name for ref in refs.split("\n") if ref and (name := ref.removeprefix(start)) != "HEAD"
        )

    def take_over(self, branch: str, remote: str = "origin") -> None:
        """A local branch for one that the remote has, or the local one moved forward to it; one
        with commits of its own stays.
        """
        remotes.take_over(self.root, branch, remote)

    def tag_elsewhere(self, address: str, tag: str) -> str | None:
        """The commit of a tag in another repository; None if there is none, or nobody answers
        within a few seconds.
        """
        wanted = f"refs/tags/{tag}"
        try:
            listed = git(
                self.root,
                "ls-remote",
                "--quiet",
                "--",
                address,
                wanted,
                f"{wanted}^{{}}",
                seconds=_SHORT,
            ).line
        except GitFailed:
            return None
        found = {
            name: commit
            for commit, _, name in (line.partition("\t") for line in listed.split("\n"))
        }
        # The tag of an annotated one is an object of its own; what it stands for comes with ^{}.
        return found.get(f"{wanted}^{{}}") or found.get(wanted)

    def signature(self) -> dict[str, str]:
        """Environment in which forge-bot commits as itself; empty where the user has said a name
        and an address.
        """
        return commits.identity(self.root)

    def identity(self) -> str | None:
        """Name and address that git knows for the user, None when commits would be forge-bot's
        own.
        """
        return (
            None
            if commits.identity(self.root)
            else git(self.root, "var", "GIT_AUTHOR_IDENT")
            .line.rpartition(" ")[0]
            .rpartition(" ")[0]
        )

    def read(self, ref: str, path: str) -> bytes | None:
        """Bytes of a file as committed at `ref`, None when there is none. Raises GitFailed for an
        unknown ref.
        """
        return files_at.read(self.root, ref, path)

    def versions(self, ref: str, path: str) -> tuple[str, ...]:
        """Return the ids of the commits up to `ref` that changed a file, newest first. Raise
        GitFailed for an unknown ref.
        """
        return files_at.versions(self.root, ref, path)

    def read_many(self, ref: str, paths: Collection[str]) -> dict[str, bytes]:
        """Bytes of those of the files that are committed at `ref`; as many calls of git for a
        thousand as for one.
        """
        return files_at.read_many(self.root, ref, paths)

    def objects(self, ref: str, paths: Collection[str]) -> dict[str, str]:
        """Return mode and object id of those of the paths that are committed at `ref`."""
        return files_at.objects(self.root, ref, paths)

    def blobs_at(self, ref: str) -> dict[str, tuple[str, str]]:
        """Return mode and object id of every file committed at `ref`. Raises GitFailed when it
        names nothing.
        """
        return files_at.blobs(self.root, ref)

    def blobs_here(self) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
        """Return mode and object id of every file in the index, and the paths that are different,
        new or gone in the work tree, without those that git ignores.
        """
        return files_at.blobs_here(self.root)

    def raw_commits(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Return commits by their ids as git keeps them: the lines of their heads, and their
        messages.
        """
        return files_at.raw(self.root, ids, "commit")

    def blob(self, oid: str) -> bytes | None:
        """Return the bytes of a file by its object id, None if this repository does not have it."""
        return files_at.blob(self.root, oid)

    def sizes(self, ref: str, paths: Collection[str]) -> dict[str, int]:
        """Bytes of those of the files that are committed at `ref`, without reading them."""
        return files_at.sizes(self.root, ref, paths)

    def text_here(self, path: str) -> str | None:
        """Text of a file as it stands in the work tree the user is in, committed or not. None when
        there is none.
        """
        file = self.root / path
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None

    def list_files(self, ref: str, under: str = "") -> tuple[str, ...]:
        """Names of the files committed at `ref`, or of those in one folder. Raises GitFailed for an
        unknown ref.
        """
        return files_at.list_files(self.root, ref, under)

    def condition(self, commit: str) -> missing_parts.Condition:
        """Return the unfinished or missing parts, for work that begins at a commit. Raises
        GitFailed for an unknown one.
        """
        return missing_parts.condition(self.root, commit)

    def lfs(self, commit: str) -> Lfs | None:
        """Return the files that a commit keeps in Git LFS and their state here; None when it keeps
        nothing there.
        """
        return missing_parts.lfs(self.root, commit)

    def list_folders(self, ref: str, under: str) -> dict[str, str]:
        """The folders directly in one folder at `ref`, with an id each that changes with anything
        in them.
        """
        return files_at.list_folders(self.root, ref, under)

    def commit_id(self, ref: str) -> str:
        """Id of the commit a branch or tag names now. Raises GitFailed."""
        return revisions.commit_id(self.root, ref)

    def tree_id(self, ref: str) -> str:
        """Id of the folder tree at `ref`: equal ids, equal files. Raises GitFailed."""
        return revisions.tree_id(self.root, ref)

    def entries(self, ref: str, folder: str) -> dict[str, str]:
        """Names in a folder at `ref`, each with the id of what it is; empty if there is no such
        folder. GitFailed for an unknown ref.
        """
        return files_at.entries(self.root, ref, folder)

    def worktrees(self) -> tuple[worktree.WorktreeInfo, ...]:
        """All work trees of the repository, the main one first."""
        return worktree.listed(self.root)

    def add_worktree(self, path: Path, branch: str, base: str | None) -> Tree:
        """A new work tree: on a new branch that begins at `base`, or on an existing branch when
        `base` is None.

        Raises BranchExists, BadOption and GitFailed; a failed try leaves nothing behind.
        """
        return worktree.add(self.root, path, branch, base)

    def detached_tree(self, path: Path, commit: str) -> Tree:
        """A work tree that stands at a commit and on no branch; one that was left at `path` is made
        anew. Raises GitFailed.
        """
        return worktree.detached(self.root, path, commit)

    def show_commit(self, path: Path, commit: str) -> Tree:
        """Return the detached work tree at `path` with the files of a commit; untracked files stay.
        Raises GitFailed.
        """
        return worktree.show(self.root, path, commit)

    def read_blob(self, blob: str) -> bytes:
        """Return the bytes of a blob by its id. Raises GitFailed when the repository does not have
        it.
        """
        return files_at.read_blob(self.root, blob)

    def remove_tree(self, path: Path) -> None:
        """Take away the work tree at `path` with all that is in it, if there is one."""
        worktree.remove(self.root, path)

    def remove_unused(self, path: Path, branch: str, start: str, written: str) -> bool:
        """Remove a work tree and its branch if nobody has used them since they were made at the
        commit `start`; return whether.

        Files below `written` are no use. A branch without a work tree, as `git worktree add` leaves
        when it is killed, counts too.
        """
        return worktree.remove_unused(self.root, path, branch, start, written)

    def mend_worktree(self, path: Path) -> None:
        """Link a work tree to this repository anew, if the repository was moved since it was
        made.
        """
        worktree.mend(self.root, path)

    def put_aside(self, path: Path) -> Path | None:
        """Rename a folder that was the work tree of a repository which is gone; its new place, None
        for any other folder.
        """
        return worktree.put_aside(path)

    def tree_of(self, branch: str) -> Tree | None:
        """The work tree in which this branch is checked out, None when there is none or its folder
        is gone.
        """
        return worktree.tree_of(self.root, branch)

    def make_bundle(self, file: Path, base: str, tip: str) -> None:
        """Write the commits between two into a file. Raises GitFailed, also where there are
        none.
        """
        remotes.make_bundle(self.root, file, base, tip)

    def open_bundle(self, file: Path) -> str:
        """Take in the commits that a file holds, without moving a branch; the newest. Raises
        GitFailed.
        """
        return remotes.open_bundle(self.root, file)

    def exclude(self, pattern: str) -> None:
        """Ignore a pattern in this clone only, once (info/exclude, gitignore(5)). ValueError for
        more than one line.
        """
        if "\n" in pattern or not pattern.strip():
            raise ValueError(f"{pattern!r} is not one pattern")
        file = self.common_dir / "info" / "exclude"
        text = file.read_bytes() if file.exists() else b""
        line = pattern.encode(errors="surrogateescape")
        if line not in (known.rstrip(b"\r") for known in text.split(b"\n")):
            file.parent.mkdir(exist_ok=True)
            with file.open("ab") as end:
                end.write((b"" if not text or text.endswith(b"\n") else b"\n") + line + b"\n")


def _find_with_care(start: Path, path: Path) -> Repository:
    """The same with one question after the other: for folders with line ends in their names, and to
    say what is wrong.
    """
    if _look(start, path) != "true":
        what = (
            "a bare repository, without"
            if _ask(start, "--is-bare-repository") == "true"
            else "git's own folder, not"
        )
        raise NotARepository(
            f"{path} is {what} a work tree.",
            hint="Clone it, or name a folder with its files by --repo PATH.",
        )
    common = Path(start, _ask(start, "--git-common-dir"))
    return Repository(Path(_ask(start, "--show-toplevel")).resolve(), common.resolve())


def _ask(folder: Path, question: str) -> str:
    return git(folder, "rev-parse", question, upwards=True).line


def _look(start: Path, path: Path) -> str:
    try:
        return _ask(start, "--is-inside-work-tree")
    except GitFailed as error:
        if "not a git repository" in error.output:
            raise NotARepository(f"{path} is not inside a git repository.") from None
        raise


@lru_cache(maxsize=8)
def _check_version(folder: Path, _path: str) -> None:
    """Raise GitMissing if git is too old: asked once for each folder and path of programs."""
    said = git(folder, "version", upwards=True).line
    found = re.search(r"(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < _OLDEST:
        raise GitMissing(f"{said} is too old.")


def make_repository(folder: Path, message: str) -> Repository:
    """Put everything in `folder` into the first commit of a new repository on the branch main."""
    git(folder, "init", "--quiet", "--initial-branch=main", "--template=", ".")
    git(folder, "add", "--all")
    git(
        folder,
        "-c",
        "user.name=forge-bot",
        "-c",
        "user.email=forge-bot@users.noreply.github.com",
        "commit",
        "--quiet",
        "-m",
        message,
    )
    return Repository.find(folder)


def clone_repository(address: str, folder: Path) -> Repository:
    """A copy with all branches and their history, and no files checked out. One that lies there
    already is only brought up to date.

    Credentials are git's matter, and are not written into it.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        git(
            folder.parent,
            "clone",
            "--quiet",
            "--no-checkout",
            "--no-tags",
            "--template=",
            "--",
            address,
            str(folder),
            seconds=LONG,
        )
        return Repository.find(folder)
    repository = Repository.find(folder)
    repository.fetch()
    return repository
