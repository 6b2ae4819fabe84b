"""Take a commit into a work tree in which somebody works: git refuses where that would lose work.

Such a tree may have files of a branch `beside` the one that is checked out: they are compared with
that branch, in an index of their own, and nothing that is checked out changes.
"""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from forge_bot.errors import GitFailed
from forge_bot.git.changes import StatusEntry, status
from forge_bot.git.diff import changed
from forge_bot.git.process import FROM_INPUT, LONG, git, listing
from forge_bot.git.revisions import HEADS, commit_id
from forge_bot.git.snapshot import scratch

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
    with scratch(folder, keep=True) as copy:
        git(folder, "read-tree", "--reset", commit, env=copy.env, seconds=LONG)
        git(folder, "update-index", "-q", "--refresh", env=copy.env, ok=(0, 1), seconds=LONG)
        yield copy.env


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
