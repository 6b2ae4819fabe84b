"""List the uncommitted changes of a work tree by file, and discard them."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from forge_bot.git.files_at import SUBMODULE, entries_of
from forge_bot.git.process import FROM_INPUT, LONG, git, listing
from forge_bot.git.revisions import named_folder, own_folders, tree_id


@dataclass(frozen=True, slots=True)
class StatusEntry:
    """A path from the top of the tree that differs from the last commit, and whether git does not
    know it. A nested repository ends in a slash.
    """

    path: str
    untracked: bool = False


def status(folder: Path, index: Mapping[str, str] | None = None) -> tuple[StatusEntry, ...]:
    """All uncommitted changes: staged or not, untracked files one by one, ignored files not. With
    the environment of another index, the changes since that one.

    Uncommitted work inside a submodule does not count, since no commit of this repository could
    take it.
    """
    # Format: git-status(1), "Porcelain Format Version 1" with -z. Without renames each entry is one
    # path.
    form = ("--porcelain=v1", "-z", "--no-renames")
    files = ("--untracked-files=all", "--ignored=no", "--ignore-submodules=dirty")
    rows = git(folder, "status", *form, *files, env=index).names
    if index is not None:
        rows = [f" {row[1:]}" if row[0] != "?" else row for row in rows if row[1] != " "]
    return tuple(StatusEntry(row[3:], row.startswith("??")) for row in rows)


def untracked(folder: Path) -> tuple[str, ...]:
    """Return the untracked paths, ignored files included. A folder without tracked files is one
    entry, with a slash at its end.
    """
    return git(folder, "ls-files", "--others", "--directory", "-z").names


def ignored_beside(folder: Path) -> tuple[str, ...]:
    """Return the files that git ignores beside tracked ones; none in folders that it ignores."""
    form = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    return tuple(name for name in git(folder, "ls-files", *form).names if not name.endswith("/"))


def would_ignore(folder: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Return those of some paths, existing or not, that git would ignore."""
    if not paths:
        return ()
    names = "\0".join(paths).encode()
    # This command refuses to take names literally, and does so anyway.
    plain = {"GIT_LITERAL_PATHSPECS": "0"}
    return git(folder, "check-ignore", "--stdin", "-z", stdin=names, ok=(0, 1), env=plain).names


def new(folder: Path) -> tuple[str, ...]:
    """Return the untracked files that git does not ignore, one by one. A nested repository ends in
    a slash.
    """
    return git(folder, "ls-files", "--others", "--exclude-standard", "-z").names


def discard(folder: Path, paths: Sequence[str], commit: str = "HEAD") -> None:
    """Restore each named file from a commit, or remove it if that does not have it.

    A nested repository, which git names with a slash at the end, is removed whole. Other folders
    are left alone, and so is everything in git's own folder.
    """
    for path in paths:
        if path.endswith("/") and _is_nested(folder, path):
            shutil.rmtree(folder / path)
    files = [path for path in paths if not path.endswith("/") and ".git" not in path.split("/")]
    files = [path for path in files if (folder / path).is_symlink() or not (folder / path).is_dir()]
    if not files:
        return
    # Names go in by a pipe: an installation leaves more files behind than fit on a command line.
    known = entries_of(folder, tree_id(folder, commit)).keys() & {*files}
    for path in files:
        if path not in known:
            (folder / path).unlink(missing_ok=True)
    if known:
        names = listing(sorted(known))
        words = ("restore", "--quiet", f"--source={commit}", "--worktree")
        staged = ("--staged",) if commit == "HEAD" else ()
        git(folder, *words, *staged, *FROM_INPUT, stdin=names, seconds=LONG)


def nested(folder: Path) -> frozenset[str]:
    """Return the folders below the top that have files of the last commit and are nevertheless
    repositories of their own, and submodules that `git submodule` did not make.

    Git would take such a folder for a submodule, would hide new files in it, and obeys the settings
    of a repository in the place of a submodule. A link in the place of a folder leads to a
    repository of somebody else.
    """
    entries = entries_of(folder, tree_id(folder, "HEAD")).items()
    return frozenset(
        name
        for name, entry in entries
        if entry.kind != "blob"
        and os.path.lexists(f"{folder}/{name}/.git")
        and _is_nested(folder, name)
        and not (entry.mode == SUBMODULE and _has_own_folder_in(folder, folder / name / ".git"))
    )


def remove_nested(folder: Path, *, untracked: bool = False) -> None:
    """Remove git's own folder from those folders; their files stay.

    With `untracked`, do the same to repositories in folders that git does not know.
    """
    none = frozenset[str]()
    while names := nested(folder) | (untracked_repositories(folder) if untracked else none):
        for name in names:
            place = folder / name / ".git"
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink()


def untracked_repositories(folder: Path) -> frozenset[str]:
    """Return the nested repositories that git does not know, by names with a slash at the end."""
    names = new(folder)
    return frozenset(name for name in names if name.endswith("/") and _is_nested(folder, name))


def _has_own_folder_in(folder: Path, link: Path) -> bool:
    """Return whether a submodule's own git folder lies within that of the repository, where no
    command writes (gitrepository-layout(5), modules).
    """
    if link.is_symlink() or not link.is_file():
        return False
    return named_folder(link).resolve().is_relative_to(own_folders(folder)[1].resolve())


def _is_nested(folder: Path, path: str) -> bool:
    """Return whether a path names a folder inside the tree, not a link, with a repository in it."""
    parts = PurePosixPath(path).parts
    place = folder / path
    if not parts or path.startswith("/") or ".." in parts or ".git" in parts:
        return False
    inside = place.resolve() == folder.resolve().joinpath(*parts)
    return inside and os.path.lexists(place / ".git")
