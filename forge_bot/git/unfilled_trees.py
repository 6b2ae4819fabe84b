"""Work trees whose files are checked out later, while their branch already gets commits.

Such a tree has its whole index from the start. A second index lies beside it until all files are
there, and then takes its place. So another process sees whether the files are still missing.
"""

import os
import shutil
from pathlib import Path

from forge_bot.git import files_at
from forge_bot.git.own_files import FILLING, INDEX, unlock
from forge_bot.git.process import LONG, git
from forge_bot.git.revisions import own_folders
from forge_bot.git.unread_files import without_reading


def begin(folder: Path, commit: str) -> None:
    """Give a work tree that was made without files the index of a commit, and note that the files
    are missing.
    """
    filling = _filling(folder)
    git(folder, "read-tree", commit, env=_apart(filling), seconds=LONG)
    copy = filling.with_name(f"{FILLING}.copy")
    shutil.copyfile(filling, copy)
    copy.replace(filling.with_name(INDEX))


def fill(folder: Path, commit: str) -> None:
    """Check out the files of a commit into a tree that has none of them. Commits may be made
    meanwhile: git's own index stays as it is.
    """
    words = ("read-tree", "--reset", "-u", commit)
    git(folder, *words, env=_apart(_filling(folder)), seconds=LONG)


def finish(folder: Path) -> None:
    """Let git know the times of the files that were checked out. From here on it is a work tree
    like any other. Until then git would compare the content of each file.
    """
    filling = _filling(folder)
    with without_reading(folder, FILLING):
        git(folder, "read-tree", "-m", "HEAD", env=_apart(filling), seconds=LONG)
    filling.replace(filling.with_name(INDEX))


def complete(folder: Path, own: str) -> None:
    """Check out the files that a killed process left out. Files that are there stay, except those
    of which only the beginning was written; below the folder `own` they stay as well.
    """
    # A git that outlived the process which had started it may still be writing.
    unlock(folder)
    filling = _filling(folder)
    env = _apart(filling)
    git(folder, "read-tree", "HEAD", env=env, seconds=LONG)
    git(folder, "update-index", "-q", "--refresh", env=env, ok=(0, 1), seconds=LONG)
    _remove_torn(folder, own)
    missing = git(folder, "ls-files", "--deleted", "-z", env=env).out
    if missing:
        words = ("checkout-index", "--quiet", "--index", "-z", "--stdin")
        git(folder, *words, stdin=missing, env=env, seconds=LONG)
    filling.replace(filling.with_name(INDEX))


def _remove_torn(folder: Path, own: str) -> None:
    """Remove files that hold the beginning of what the commit has, and no more."""
    words = ("diff-files", "--name-only", "--diff-filter=M", "--ignore-submodules", "-z")
    changed = git(folder, *words, env=_apart(_filling(folder))).names
    changed = tuple(path for path in changed if not path.startswith(own))
    for path, whole in files_at.read_many(folder, "HEAD", changed).items():
        place = folder / path
        if place.is_symlink() or not place.is_file():
            continue
        there = place.read_bytes()
        if len(there) < len(whole) and whole.startswith(there):
            place.unlink()


def _filling(folder: Path) -> Path:
    return own_folders(folder)[0] / FILLING


def _apart(filling: Path) -> dict[str, str]:
    return {"GIT_INDEX_FILE": os.fspath(filling.absolute())}
