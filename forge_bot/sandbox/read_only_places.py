"""Places in a work tree that a command may read but not change.

They are folders, files, links, and paths that do not exist yet.
"""

import os
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Protected:
    """The mounts that protect each place."""

    locked: tuple[Path, ...]
    """Bound read-only."""
    pinned: tuple[Path, ...]
    """Folders on the way: bound onto themselves, since a mount point cannot be renamed."""


@contextmanager
def remove_new_files(worktree: Path, names: Sequence[str]) -> Generator[tuple[str, ...]]:
    """Yield the names that exist in the work tree; afterwards remove the others if they exist now.

    An empty folder in their place, as for covered places, would mislead tools that expect a file.
    """
    # Plain text: hundreds of names are looked for, before and after each command.
    there = tuple(name for name in names if os.path.lexists(f"{worktree}/{name}"))
    absent = {*names}.difference(there)
    try:
        yield there
    finally:
        new = [name for name in absent if os.path.lexists(f"{worktree}/{name}")]
        for place in (worktree / name for name in new):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)


def with_targets(worktree: Path, entries: Sequence[str]) -> tuple[Path, ...]:
    """Return the protected places and, for links, also their targets inside the work tree."""
    places: list[Path] = []
    todo = [worktree / entry for entry in entries]
    while todo:
        place = todo.pop()
        if place not in places:
            places.append(place)
            real = place.resolve()
            todo += [real] if real.is_relative_to(worktree) and real != worktree else []
    return tuple(sorted(places))


def split_around(folder: Path, left_out: Sequence[Path]) -> Iterator[Path]:
    """Yield the fewest files and folders that make up `folder` without some places in it.

    Links are left out: they lead elsewhere.
    """
    above = {parent for place in left_out for parent in place.parents}
    todo = [folder]
    while todo:
        place = todo.pop()
        if place in left_out:
            continue
        if place not in above:
            yield place
        elif place.is_dir():
            todo += [child for child in place.iterdir() if not child.is_symlink()]


@contextmanager
def protected_mounts(worktree: Path, entries: Sequence[str]) -> Generator[Protected]:
    """Prepare the places for mounts: for one that is missing an empty folder is made. Afterwards
    remove these, and restore replaced links.
    """
    places = with_targets(worktree, entries)
    # Nothing can be mounted over a link itself; it is checked when the command has ended.
    links = {place: place.readlink() for place in places if place.is_symlink()}
    made: list[Path] = []
    for step in [step for place in places for step in (*reversed(place.parents), place)]:
        inside = step.is_relative_to(worktree) and step.parent.resolve() == step.parent
        if inside and not os.path.lexists(step) and step.parent.is_dir():
            step.mkdir()
            made.append(step)
    locked = [place for place in places if place not in links and place.exists()]
    above = dict.fromkeys(parent for place in locked for parent in place.parents)
    pinned = [folder for folder in above if folder.is_relative_to(worktree) and folder != worktree]
    try:
        yield Protected(tuple(locked), tuple(pinned))
    finally:
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        for link, target in links.items():
            _put_back(link, target)


def _put_back(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    else:
        link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
