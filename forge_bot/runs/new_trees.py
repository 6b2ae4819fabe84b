"""Work trees of runs that this process has made. Nothing unfinished lies in one that nobody has
opened since, so git does not look through its files for that.
"""

from pathlib import Path

_made: set[Path] = set()


def note_new_tree(path: Path) -> None:
    """Note a tree that was made, with all that was written there committed."""
    _made.add(path)


def is_new_tree(path: Path) -> bool:
    """Return whether this process has made the tree and not asked so before."""
    known = path in _made
    _made.discard(path)
    return known
