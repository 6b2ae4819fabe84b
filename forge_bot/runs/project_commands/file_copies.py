"""Copy, compare and remove files of a work tree, without following links."""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path


def paths_without(root: Path, path: Path, kept: frozenset[Path]) -> Iterator[Path]:
    if not kept.isdisjoint((path, *path.parents)):
        return
    if not any(path in other.parents for other in kept):
        yield path
        return
    for inside in sorted((root / path).iterdir()):
        yield from paths_without(root, path / inside.name, kept)


def _paths_below(root: Path, top: Path) -> Iterator[Path]:
    """Yield a path and all paths below it, relative to `root`; folders come before their contents.
    Links are not followed, the path itself among them.
    """
    if not os.path.lexists(root / top):
        return
    yield top
    if (root / top).is_symlink():
        return
    for folder, folders, files in os.walk(root / top):
        place = Path(folder).relative_to(root)
        yield from (place / name for name in (*folders, *files))


def _clear_folders_above(root: Path, names: Sequence[str]) -> None:
    """Remove files and links where these paths need a folder."""
    for folder in sorted({above for name in names for above in Path(name).parents if above.parts}):
        if (root / folder).is_symlink() or not (root / folder).is_dir():
            remove_entry(root / folder)


def _fingerprint_of(path: Path) -> tuple[int, ...]:
    """Return a value that changes whenever a file changes. Only the kernel sets the time of the
    last change of an inode.
    """
    seen = path.lstat()
    if stat.S_ISDIR(seen.st_mode):
        return (seen.st_mode,)
    return (seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def _copy_entry(source: Path, target: Path) -> None:
    """Copy one file, link or folder without its content; no pipe, socket or device, which have no
    content. An existing one is replaced.
    """
    is_folder = source.is_dir() and not source.is_symlink()
    if os.path.lexists(target) and not (is_folder and target.is_dir() and not target.is_symlink()):
        remove_entry(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if is_folder:
        target.mkdir(exist_ok=True)
        shutil.copystat(source, target)
        # Its content follows.
        target.chmod(target.stat().st_mode | stat.S_IRWXU)
    elif source.is_symlink() or source.is_file():
        shutil.copy2(source, target, follow_symlinks=False)


def remove_entry(path: Path) -> None:
    """Remove a file, a link, or a folder with all in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def copy_files(root: Path, names: Sequence[str], target: Path) -> None:
    """Copy files and whole folders of a work tree to the same paths below another folder."""
    for path in (path for name in names for path in _paths_below(root, Path(name))):
        _copy_entry(root / path, target / path)


def restore_files(
    pristine: Path, root: Path, tops: Sequence[str], known: dict[Path, tuple[int, ...]]
) -> bool:
    """Restore missing and changed files from a copy of them, and remove added ones; return whether
    anything was done. `known` has what the files looked like when they were last restored.

    Nothing is read, written or removed through a link of a commit or of a command.
    """
    _clear_folders_above(root, tops)
    wanted = [path for top in tops for path in _paths_below(pristine, Path(top))]
    there = {path for top in tops for path in _paths_below(root, Path(top))}
    changed = [
        path
        for path in wanted
        if path not in there or known.get(path) != _fingerprint_of(root / path)
    ]
    extra = sorted(there.difference(wanted), reverse=True)
    for path in extra:
        remove_entry(root / path)
    for path in changed:
        _copy_entry(pristine / path, root / path)
    known.update({path: _fingerprint_of(root / path) for path in changed})
    return bool(changed or extra)
