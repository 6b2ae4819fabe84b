"""The uncommitted work of a tree: as a git tree with untracked files, as a patch, saved under a ref
of its own; and commits taken in where git loses none of it.

A tree may have files of a branch `beside` the one that is checked out: they are compared with that
branch, in an index of their own, and nothing that is checked out changes.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from forge_bot.errors import BadOption, GitFailed, NotARepository
from forge_bot.git.changes import StatusEntry, status, untracked_repositories
from forge_bot.git.commit_history import changed, patch_bytes
from forge_bot.git.commits import NewCommit, identity, tree_after
from forge_bot.git.process import FROM_INPUT, LONG, git, listing
from forge_bot.git.revisions import HEADS, commit_id, is_ref, ref_target, tree_id

APPLY = ("--whitespace=nowarn", "--no-ignore-whitespace")


@contextmanager
def scratch(folder: Path) -> Generator[Mapping[str, str]]:
    """Copy the index of the work tree at `folder`, and yield git's environment for the copy."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as name:
        index = Path(name) / "index"
        with contextlib.suppress(FileNotFoundError):
            # With its times: git takes an entry younger than the index for one that it has to
            # compare by content.
            kept = folder / git(folder, "rev-parse", "--git-path", "index").line
            shutil.copy2(kept, index)
        yield {"GIT_INDEX_FILE": str(index)}


def work_tree(folder: Path, env: Mapping[str, str]) -> str:
    """Id of a tree with every file of the work tree that is tracked, staged or untracked; those
    only ignored are left out, and so are nested repositories without a commit.
    """
    _add_all(folder, env)
    options = ("--cached", "--diff-filter=D", "--name-only", "-z", "--no-renames")
    gone = git(folder, "diff-index", *options, "HEAD", "--", env=env).names
    # A file that was removed from the index and ignored still exists, and a hard reset would
    # overwrite it.
    hidden = [
        name for name in gone if os.path.lexists(folder / name) and not (folder / name).is_dir()
    ]
    if hidden:
        words = ("add", "--force", *FROM_INPUT)
        git(folder, *words, stdin=listing(hidden), env=env, seconds=LONG)
    return git(folder, "write-tree", env=env).line


def _add_all(folder: Path, env: Mapping[str, str]) -> None:
    words = ("-c", "core.splitIndex=false", "add", "--all")
    try:
        git(folder, *words, env=env, seconds=LONG)
    except GitFailed:
        # A nested repository without a commit is nothing that git can add.
        left_out = sorted(untracked_repositories(folder))
        if not left_out:
            raise
        patterns = (".", *(f":(exclude,literal){name[:-1]}" for name in left_out))
        env = {**env, "GIT_LITERAL_PATHSPECS": "0"}
        git(folder, *words, *FROM_INPUT, stdin=listing(patterns), env=env, seconds=LONG)


def patch(folder: Path, paths: Sequence[str], *, since: str = "HEAD") -> str:
    """Return the changes of these files since a commit, for `apply`. Files that text would not keep
    go in as base 85.
    """
    trees = (tree_id(folder, since), tree_after(folder, since, NewCommit("", (), paths)))
    with tempfile.NamedTemporaryFile("w", prefix="forge-bot-") as attributes:
        raw = patch_bytes(folder, *trees, attributes=attributes.name)
        if not _safe(raw):
            attributes.write("* -diff\n")
            attributes.flush()
            raw = patch_bytes(folder, *trees, attributes=attributes.name)
        # A `diff` attribute in the repository wins over ours; then at least a string and `apply`
        # keep every byte.
        return raw.decode(errors="surrogateescape")


def apply(
    folder: Path, text: str, *, without: Sequence[str] = (), only: Sequence[str] = ()
) -> None:
    """Apply a patch to the work tree, completely or not at all; the index stays. Raises GitFailed
    if it does not fit.

    `without` names, by git's wildcards, files that stay unchanged even if the patch changes them.
    `only` names the files that may change.
    """
    left_out = [f"--exclude={pattern}" for pattern in without] + [
        f"--include={pattern}" for pattern in only
    ]
    if text.strip():
        git(folder, "apply", *APPLY, *left_out, "-", stdin=text.encode(errors="surrogateescape"))


def _safe(raw: bytes) -> bool:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return False
    # Python reads a text file with every \r\n turned into \n, unless it is told not to.
    return "\r" not in text


RESCUED = "refs/forge-bot/rescued/"


def rescue(folder: Path, name: str) -> str | None:
    """Save everything uncommitted as a commit after HEAD under a new ref, then make the tree clean;
    the ref, or None if it was clean.

    Ignored files and the insides of submodules and nested repositories are neither saved nor
    touched; a nested repository stays there as untracked. A name that is taken gets a number. Get
    the work back with `git checkout REF -- .`.
    """
    if not is_ref(folder, RESCUED + name):
        raise BadOption(
            f"{name!r} cannot be part of a ref.", hint="Use letters, digits, `-`, `_`, `.` and `/`."
        )
    top = git(folder, "rev-parse", "--show-toplevel").line
    if not Path(top).samefile(folder):
        # A hard reset must not reach a repository further up.
        raise NotARepository(f"{folder} is not the top of a work tree; {top} is.")
    if not status(folder):
        return None
    with scratch(folder) as env:
        tree = work_tree(folder, env)
    head, message = commit_id(folder, "HEAD"), "forge-bot: uncommitted work, put aside"
    words = ("commit-tree", "--no-gpg-sign", "-p", head, "-F", "-", tree)
    saved = git(folder, *words, stdin=message.encode(), env=identity(folder)).line
    ref = _free(folder, RESCUED + name)
    # An empty old value makes git refuse when the ref has come into being meanwhile.
    git(folder, "update-ref", "--create-reflog", "-m", "forge-bot: rescue", ref, saved, "")
    git(folder, "reset", "--hard", "--quiet", "HEAD", "--", seconds=LONG)
    _clean(folder, saved)
    return ref


def _clean(folder: Path, saved: str) -> None:
    """Remove the untracked files that are saved. What only an uncommitted .gitignore ignored
    stays.
    """
    names = git(folder, "ls-files", "--others", "--exclude-standard", "-z").names
    listed = git(folder, "ls-tree", "-r", "-z", "--name-only", "--full-tree", saved).names
    for name in frozenset(listed).intersection(names):
        place = folder / name
        place.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.removedirs(place.parent)


def _free(folder: Path, ref: str) -> str:
    number, candidate = 1, ref
    while ref_target(folder, candidate) is not None:
        number += 1
        candidate = f"{ref}-{number}"
    return candidate


_FORWARD = ("--ff-only", "--no-verify-signatures", "--no-autostash", "--no-stat")


def move_forward(folder: Path, commit: str) -> None:
    """Move the branch that is checked out and the files to a commit that came after.

    Files that are already as that commit has them are no obstacle. Raises GitFailed, and leaves all
    as it was, where other uncommitted work or an untracked file is in the way.
    """
    words = ("merge", "--quiet", *_FORWARD, commit)
    try:
        git(folder, *words, seconds=LONG)
    except GitFailed:
        staged = _stage(folder, commit_id(folder, "HEAD"), commit, {})
        if not staged:
            raise
        try:
            git(folder, *words, seconds=LONG)
        except GitFailed:
            _reset(folder, "HEAD", staged, {})
            raise


def move_beside(folder: Path, branch: str, commit: str) -> None:
    """Move a branch beside and its files to a commit that came after. Raises GitFailed, and leaves
    all as it was, where other uncommitted work is in the way.
    """
    before = commit_id(folder, HEADS + branch)
    with _index_at(folder, before) as env:
        _stage(folder, before, commit, env)
        git(folder, "read-tree", "-m", "-u", before, commit, env=env, seconds=LONG)
    git(folder, "update-ref", HEADS + branch, commit, before)


def status_beside(folder: Path, branch: str) -> tuple[StatusEntry, ...]:
    """Return the changes of the files since the newest commit of a branch beside."""
    with _index_at(folder, commit_id(folder, HEADS + branch)) as env:
        return status(folder, env)


@contextmanager
def _index_at(folder: Path, commit: str) -> Generator[Mapping[str, str]]:
    """Make a separate index with the files of a commit, and return git's environment for it."""
    with scratch(folder) as env:
        git(folder, "read-tree", "--reset", commit, env=env, seconds=LONG)
        git(folder, "update-index", "-q", "--refresh", env=env, ok=(0, 1), seconds=LONG)
        yield env


def _stage(folder: Path, before: str, after: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """Put those files into the index that differ between two commits and are already as the second
    one has them; return them. What a person has staged stays.
    """
    words = ("diff-index", "--cached", "--name-only", "-z", "--no-renames", before, "--")
    by_person = set(git(folder, *words, env=env).names)
    paths = [path for path in changed(folder, before, after) if path not in by_person]
    if not paths:
        return ()
    _reset(folder, after, paths, env)
    git(folder, "update-index", "-q", "--refresh", env=env, ok=(0, 1), seconds=LONG)
    known = set(git(folder, "ls-files", "-z", "--", *paths, env=env).names)
    other = set(git(folder, "diff-files", "--name-only", "-z", "--", *paths, env=env).names)
    other |= {path for path in paths if path not in known and os.path.lexists(folder / path)}
    _reset(folder, before, sorted(other), env)
    return tuple(path for path in paths if path not in other)


def _reset(folder: Path, commit: str, paths: Sequence[str], env: Mapping[str, str]) -> None:
    if paths:
        words = ("reset", "--quiet", commit, *FROM_INPUT)
        git(folder, *words, stdin=listing(paths), env=env, seconds=LONG)
