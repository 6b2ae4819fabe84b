"""Files that commands left in a work tree and git ignores: caches and built files.

Commands made them from other commits, also from edits that nobody accepted, and the next command
would believe them. So they are removed before build, tests and lint judge a commit.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from forge_bot.git import Tree

_BYTECODE = "__pycache__"


def remove_leftovers(tree: Tree, kept: Sequence[str]) -> None:
    """Remove all that git does not track from a tree where nobody works, except some paths and
    everything below them.
    """
    for name in tree.untracked():
        for path in _outside(tree.path, Path(name), frozenset(map(Path, kept))):
            _remove(tree.path / path)


def remove_bytecode(tree: Tree) -> None:
    """Remove the bytecode beside tracked files, which Python runs in the place of a source. A
    person may work in the tree, and loses nothing by that.
    """
    for folder in ("", *tree.tracked_folders()):
        place = tree.path / folder / _BYTECODE
        if place.is_dir() and place.parent.resolve() == tree.path.resolve() / folder:
            _remove(place)


def _outside(root: Path, path: Path, kept: frozenset[Path]) -> Iterator[Path]:
    """Yield a path, or what is in it where a part of it is kept."""
    if not kept.isdisjoint((path, *path.parents)):
        return
    if not any(path in each.parents for each in kept):
        yield path
        return
    for each in sorted((root / path).iterdir()):
        yield from _outside(root, path / each.name, kept)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
