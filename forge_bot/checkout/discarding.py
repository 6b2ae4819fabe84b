"""Files put back to the last commit: what a project's own commands left behind is no work of anybody."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from forge_bot.checkout.git import git


def discard(folder: Path, paths: Sequence[str]) -> None:
    """Restore each path from HEAD, or remove it if HEAD does not have it."""
    if not paths:
        return
    known = set(git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--", *paths).names)
    for path in paths:
        if path not in known:
            _remove(folder / path)
    if known:
        git(folder, "checkout", "--quiet", "HEAD", "--", *sorted(known))


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
