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
    """Existing places: bound read-only."""
    covered: tuple[Path, ...]
    """Missing places: covered by an empty read-only folder."""
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
    found: list[Path] = []
    todo = [worktree / entry for entry in entries]
    while todo:
        place = todo.pop()
        if place not in found:
            found.append(place)
            real = place.resolve()
            todo += [real] if real.is_relative_to(worktree) and real != worktree else []
    return tuple(sorted(found))


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
    """Prepare the places for mounts. Afterwards remove the files made for them, and restore
    replaced links.
    """
    links: dict[Path, Path] = {}
    made: list[Path] = []
    locked: list[Path] = []
    covered: list[Path] = []
    pinned: list[Path] = []
    for place in with_targets(worktree, entries):
        step = _first_odd_step(worktree, place, pinned)
        if step.is_symlink():
            # Nothing can be mounted over a link itself; it is checked when the command has ended.
            links[step] = step.readlink()
        elif step.exists():
            (locked if step == place else pinned).append(step)
        else:
            made += _make(step, place, pinned)
            covered.append(place)
    try:
        yield Protected(tuple(locked), tuple(covered), tuple(dict.fromkeys(pinned)))
    finally:
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        for link, target in links.items():
            _put_back(link, target)


def _first_odd_step(worktree: Path, place: Path, pinned: list[Path]) -> Path:
    """Return the first part of the way that is no plain folder, else the place itself.

    The folders before it are pinned.
    """
    step = worktree
    for name in place.relative_to(worktree).parts:
        step /= name
        if step == place or step.is_symlink() or not step.is_dir():
            return step
        pinned.append(step)
    return step


def _make(first: Path, place: Path, pinned: list[Path]) -> list[Path]:
    made: list[Path] = []
    for step in (
        *reversed([parent for parent in place.parents if parent.is_relative_to(first)]),
        place,
    ):
        step.mkdir()
        made.append(step)
    pinned += made[:-1]
    return made


def _put_back(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    else:
        link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
