"""Files kept in Git LFS: which they are, whether git can fetch and store them here, and which are only pointers."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from forge_bot.git.files_at import list_files, read
from forge_bot.git.names import tree_id
from forge_bot.git.process import git

_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LONGEST_POINTER = 1024
"""Bytes (git-lfs, docs/spec.md)."""


@dataclass(frozen=True, slots=True)
class Lfs:
    """The files of a commit that have the attribute `filter=lfs`, and what becomes of them here.

    `pointers` are those that are pointers in the user's work tree. `installed`: git finds the program git-lfs. `set_up`: its filter
    is configured. `required`: git refuses to check them out without it.
    """

    files: tuple[str, ...]
    pointers: frozenset[str]
    installed: bool
    set_up: bool
    required: bool

    @property
    def works(self) -> bool:
        """Whether git brings the contents along when it makes a work tree."""
        return self.installed and self.set_up


def lfs(root: Path, commit: str) -> Lfs | None:
    """What `commit` keeps in Git LFS; None when it keeps nothing there."""
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
        installed=shutil.which("git-lfs") is not None or git(root, "lfs", "version", ok=(0, 1)).code == 0,
        set_up=_configured(root, "filter.lfs.process") or _configured(root, "filter.lfs.smudge"),
        required=git(root, "config", "--type=bool", "--get", "filter.lfs.required", ok=(0, 1)).line == "true",
    )


def _configured(root: Path, key: str) -> bool:
    return bool(git(root, "config", "--get", key, ok=(0, 1)).line)


def _filtered(root: Path, commit: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the names whose filter is `lfs`, by the attributes in the commit itself: `check-attr --source` is younger than our git."""
    listing = b"".join(os.fsencode(name) + b"\0" for name in names)
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git(root, "read-tree", tree_id(root, commit), env=env)
        said = git(root, "check-attr", "--cached", "-z", "--stdin", "filter", stdin=listing, env=env).out.split(b"\0")
    # Three fields a file: path, attribute, value (git-check-attr(1)).
    return tuple(os.fsdecode(path) for path, value in zip(said[0::3], said[2::3], strict=False) if value == b"lfs")


def _is_pointer(file: Path) -> bool:
    return file.is_file() and file.stat().st_size <= _LONGEST_POINTER and file.read_bytes().startswith(_POINTER)
