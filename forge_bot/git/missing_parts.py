"""Finds the missing parts of a repository: history, files, submodules, contents in Git LFS. Nothing
is changed or fetched.
"""

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from forge_bot.git.files_at import list_files, raw, read, submodules
from forge_bot.git.process import git, listing
from forge_bot.git.revisions import Operation, commit_id, is_shallow, tree_id, under_way

_EVERYTHING, _NO_FOLDER = "/*", "!/*/"
_MADE = re.compile(rb"^committer .*> (\d+) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Submodule:
    """Another repository inside this one, by its folder. `filled` says whether its files are in the
    user's work tree.
    """

    path: str
    filled: bool


@dataclass(frozen=True, slots=True)
class Sparse:
    """A checkout of only some folders: the tracked files it leaves out, and the rules as `git
    sparse-checkout list` gives them.
    """

    left_out: frozenset[str]
    rules: tuple[str, ...]

    def takes_folder(self, name: str) -> bool:
        """Return whether new files in this top folder can be committed, as far as the rules name it
        or everything.
        """
        if any(rule.strip("/") in {name, f"{name}/*"} for rule in self.rules):
            return True
        return _EVERYTHING in self.rules and not {
            _NO_FOLDER,
            f"!/{name}/",
            f"!/{name}",
            f"!{name}/",
            f"!{name}",
        } & set(self.rules)


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a clone, seen from one of its work trees and one commit."""

    operation: Operation | None
    commits_here: int | None
    """The number of commits in a shallow clone; None in a whole one."""
    sparse: Sparse | None
    submodules: tuple[Submodule, ...]
    committed_at: datetime


def condition(root: Path, commit: str) -> Condition:
    """The condition of the clone around the work tree `root`, for work that begins at `commit`."""
    return Condition(
        operation=under_way(root),
        commits_here=_commits_here(root, commit),
        sparse=_sparse(root),
        submodules=_submodules(root, commit),
        committed_at=_committed_at(root, commit_id(root, commit)),
    )


def _committed_at(root: Path, commit: str) -> datetime:
    found = _MADE.search(raw(root, (commit,), "commit")[commit])
    return datetime.fromtimestamp(int(found[1]) if found is not None else 0, UTC)


def _commits_here(root: Path, commit: str) -> int | None:
    if not is_shallow(root):
        return None
    return int(git(root, "rev-list", "--count", commit_id(root, commit)).line)


def _sparse(root: Path) -> Sparse | None:
    if git(root, "config", "--type=bool", "--get", "core.sparseCheckout", ok=(0, 1)).line != "true":
        return None
    # `S` marks what git leaves out of the work tree (git-ls-files(1), -t).
    rows = git(root, "ls-files", "-t", "-z").names
    rules = git(root, "sparse-checkout", "list", ok=(0, 1, 128)).line.split("\n")
    return Sparse(
        frozenset(row[2:] for row in rows if row.startswith("S ")),
        tuple(rule for rule in rules if rule),
    )


def _submodules(root: Path, commit: str) -> tuple[Submodule, ...]:
    paths = submodules(root, commit)
    return tuple(Submodule(path, (root / path / ".git").exists()) for path in paths)


_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LONGEST_POINTER = 1024
"""Bytes (git-lfs, docs/spec.md)."""


@dataclass(frozen=True, slots=True)
class Lfs:
    """The files of a commit that have the attribute `filter=lfs`, and their state on this machine.

    `pointers` are those that are pointers in the user's work tree. `installed`: git finds the
    program git-lfs. `set_up`: its filter is configured. `required`: git refuses to check them out
    without it.
    """

    files: tuple[str, ...]
    pointers: frozenset[str]
    installed: bool
    set_up: bool
    required: bool

    @property
    def works(self) -> bool:
        """Return whether git brings the contents along when it makes a work tree."""
        return self.installed and self.set_up


def lfs(root: Path, commit: str) -> Lfs | None:
    """Return the files that `commit` keeps in Git LFS; None when it keeps nothing there."""
    names = list_files(root, commit)
    attributes = [name for name in names if name.rpartition("/")[2] == ".gitattributes"]
    # A cheap look first: hardly any repository uses it.
    if not any(b"filter=lfs" in (read(root, commit, name) or b"") for name in attributes):
        return None
    files = _filtered(root, commit, names)
    if not files:
        return None
    return Lfs(
        files=files,
        pointers=frozenset(name for name in files if _is_pointer(root / name)),
        installed=shutil.which("git-lfs") is not None
        or git(root, "lfs", "version", ok=(0, 1)).code == 0,
        set_up=_configured(root, "filter.lfs.process") or _configured(root, "filter.lfs.smudge"),
        required=git(root, "config", "--type=bool", "--get", "filter.lfs.required", ok=(0, 1)).line
        == "true",
    )


def _configured(root: Path, key: str) -> bool:
    return bool(git(root, "config", "--get", key, ok=(0, 1)).line)


def _filtered(root: Path, commit: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the names whose filter is `lfs`, by the attributes in the commit itself: `check-attr
    --source` is younger than our git.
    """
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git(root, "read-tree", tree_id(root, commit), env=env)
        words = ("check-attr", "--cached", "-z", "--stdin", "filter")
        said = git(root, *words, stdin=listing(names), env=env).out.split(b"\0")
    # Three fields a file: path, attribute, value (git-check-attr(1)).
    return tuple(
        os.fsdecode(path)
        for path, value in zip(said[0::3], said[2::3], strict=False)
        if value == b"lfs"
    )


def _is_pointer(file: Path) -> bool:
    return (
        file.is_file()
        and file.stat().st_size <= _LONGEST_POINTER
        and file.read_bytes().startswith(_POINTER)
    )
