"""The uncommitted work of a tree: listed by file, discarded, as a patch, saved under a ref of its
own; and commits taken in where git loses none of it.

A tree may have files of a branch `beside` the one that is checked out: they are compared with that
branch, in an index of their own, and nothing that is checked out changes.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from forge_bot.errors import GitFailed, NotARepository
from forge_bot.git.commit_history import changed, patch_bytes
from forge_bot.git.commits import NewCommit, identity, tree_after
from forge_bot.git.files_at import SUBMODULE, entries_of
from forge_bot.git.process import FROM_INPUT, LONG, git, listing
from forge_bot.git.revisions import (
    HEADS,
    commit_id,
    is_ancestor,
    named_folder,
    own_folders,
    ref_target,
    tree_id,
)


@dataclass(frozen=True, slots=True)
class StatusEntry:
    """A path from the top of the tree that differs from the last commit, and whether git does not
    know it. A nested repository ends in a slash.
    """

    path: str
    untracked: bool = False


def status(folder: Path, beside: str = "") -> tuple[StatusEntry, ...]:
    """All uncommitted changes: staged or not, untracked files one by one, ignored files not; those
    since the newest commit of a branch beside, if it is named.

    Uncommitted work inside a submodule does not count, since no commit of this repository could
    take it.
    """
    # Format: git-status(1), "Porcelain Format Version 1" with -z. Without renames each entry is one
    # path.
    form = ("--porcelain=v1", "-z", "--no-renames")
    files = ("--untracked-files=all", "--ignored=no", "--ignore-submodules=dirty")
    with _index(folder, beside) as env:
        rows = git(folder, "status", *form, *files, env=env).names
    if beside:
        rows = [f" {row[1:]}" if row[0] != "?" else row for row in rows if row[1] != " "]
    return tuple(StatusEntry(row[3:], row.startswith("??")) for row in rows)


def blobs_here(folder: Path) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
    """Return mode and object id of every file in the index, and the paths that are changed, new or
    missing in the work tree.
    """
    known: dict[str, tuple[str, str]] = {}
    for row in git(folder, "ls-files", "-z", "--stage").names:
        about, _, path = row.partition("\t")
        mode, oid, _ = about.split(" ")
        known[path] = (mode, oid)
    return known, tuple(change.path for change in status(folder))


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


APPLY = ("--whitespace=nowarn", "--no-ignore-whitespace")


def patch(folder: Path, paths: Sequence[str], *, since: str = "HEAD") -> str:
    """Return the changes of these files since a commit, for `apply`. Files that text would not keep
    go in as base 85.
    """
    trees = (tree_id(folder, since), tree_after(folder, since, NewCommit("", (), paths)))
    with tempfile.NamedTemporaryFile("w", prefix="forge-bot-") as attributes:
        raw = patch_bytes(folder, *trees, attributes=attributes.name)
        if not _safe(raw):
            attributes.write("* -diff\n")
            attributes.flush()
            raw = patch_bytes(folder, *trees, attributes=attributes.name)
        # A `diff` attribute in the repository wins over ours; then at least a string and `apply`
        # keep every byte.
        return raw.decode(errors="surrogateescape")


def apply(
    folder: Path, text: str, *, without: Sequence[str] = (), only: Sequence[str] = ()
) -> None:
    """Apply a patch to the work tree, completely or not at all; the index stays. Raises GitFailed
    if it does not fit.

    `without` names, by git's wildcards, files that stay unchanged even if the patch changes them.
    `only` names the files that may change.
    """
    left_out = [f"--exclude={pattern}" for pattern in without] + [
        f"--include={pattern}" for pattern in only
    ]
    if text.strip():
        git(folder, "apply", *APPLY, *left_out, "-", stdin=text.encode(errors="surrogateescape"))


def _safe(raw: bytes) -> bool:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return False
    # Python reads a text file with every \r\n turned into \n, unless it is told not to.
    return "\r" not in text


RESCUED = "refs/forge-bot/rescued/"


def rescue(folder: Path, name: str) -> str | None:
    """Save everything uncommitted as a commit after HEAD under a new ref, then make the tree clean;
    the ref, or None if it was clean.

    Ignored files and the insides of submodules and nested repositories are neither saved nor
    touched; a nested repository stays there as untracked, and git refuses one without a commit. A
    name that is taken gets a number. Get the work back with `git checkout REF -- .`.
    """
    top = git(folder, "rev-parse", "--show-toplevel").line
    if not Path(top).samefile(folder):
        # A hard reset must not reach a repository further up.
        raise NotARepository(f"{folder} is not the top of a work tree; {top} is.")
    if not status(folder):
        return None
    tree, head = _everything(folder), commit_id(folder, "HEAD")
    message = "forge-bot: uncommitted work, put aside"
    words = ("commit-tree", "--no-gpg-sign", "-p", head, "-F", "-", tree)
    saved = git(folder, *words, stdin=message.encode(), env=identity(folder)).line
    ref = _free(folder, RESCUED + name)
    # An empty old value makes git refuse when the ref has come into being meanwhile.
    git(folder, "update-ref", "--create-reflog", "-m", "forge-bot: rescue", ref, saved, "")
    git(folder, "reset", "--hard", "--quiet", "HEAD", "--", seconds=LONG)
    _clean(folder, saved)
    return ref


@contextmanager
def _copied_index(folder: Path) -> Generator[Mapping[str, str]]:
    """Copy the index of the work tree at `folder`, and yield git's environment for the copy."""
    with tempfile.TemporaryDirectory(prefix="forge-bot-") as name:
        index = Path(name) / "index"
        with contextlib.suppress(FileNotFoundError):
            # With its times: git takes an entry younger than the index for one that it has to
            # compare by content.
            kept = folder / git(folder, "rev-parse", "--git-path", "index").line
            shutil.copy2(kept, index)
        yield {"GIT_INDEX_FILE": str(index)}


def _everything(folder: Path) -> str:
    """Id of a tree with every file of the work tree that is tracked, staged or untracked; those
    only ignored are left out.
    """
    with _copied_index(folder) as env:
        git(folder, "-c", "core.splitIndex=false", "add", "--all", env=env, seconds=LONG)
        options = ("--cached", "--diff-filter=D", "--name-only", "-z", "--no-renames")
        gone = git(folder, "diff-index", *options, "HEAD", "--", env=env).names
        places = {name: folder / name for name in gone if os.path.lexists(folder / name)}
        # A file that was removed from the index and ignored still exists, and a hard reset would
        # overwrite it.
        if hidden := [name for name, place in places.items() if not place.is_dir()]:
            words = ("add", "--force", *FROM_INPUT)
            git(folder, *words, stdin=listing(hidden), env=env, seconds=LONG)
        return git(folder, "write-tree", env=env).line


def _clean(folder: Path, saved: str) -> None:
    """Remove the saved untracked files, but what only an uncommitted .gitignore ignored."""
    for name in entries_of(folder, tree_id(folder, saved)).keys() & {*new(folder)}:
        place = folder / name
        place.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.removedirs(place.parent)


def _free(folder: Path, ref: str) -> str:
    number, candidate = 1, ref
    while ref_target(folder, candidate) is not None:
        number += 1
        candidate = f"{ref}-{number}"
    return candidate


def move_forward(folder: Path, commit: str, beside: str = "") -> None:
    """Move the branch that is checked out, or one beside, and the files to a commit that came
    after.

    Files that are already as that commit has them are no obstacle. Raises GitFailed, and leaves all
    as it was, where other uncommitted work or an untracked file is in the way, or a commit of
    somebody else came in between.
    """
    ref = HEADS + beside if beside else "HEAD"
    before = commit_id(folder, ref)
    if not is_ancestor(folder, before, commit):
        raise GitFailed(f"{ref} has commits that {commit[:12]} does not have.")
    with _index(folder, beside) as env:
        git(folder, "update-index", "-q", "--refresh", env=env, ok=(0, 1), seconds=LONG)
        staged = _stage(folder, before, commit, env)
        try:
            git(folder, "read-tree", "-m", "-u", before, commit, env=env, seconds=LONG)
        except GitFailed:
            _reset(folder, before, staged, env)
            raise
    git(folder, "update-ref", ref, commit, before)


@contextmanager
def _index(folder: Path, beside: str) -> Generator[Mapping[str, str]]:
    """Yield git's environment for the index of the work tree, or for a separate one with the files
    of a branch beside.
    """
    if not beside:
        yield {}
        return
    with _copied_index(folder) as env:
        git(folder, "read-tree", "--reset", HEADS + beside, env=env, seconds=LONG)
        yield env


def _stage(folder: Path, before: str, after: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """Put those files into the index that differ between two commits and are already as the second
    one has them; return them. What a person has staged stays.
    """
    words = ("diff-index", "--cached", "--name-only", "-z", "--no-renames", before, "--")
    by_person = set(git(folder, *words, env=env).names)
    paths = [path for path in changed(folder, before, after) if path not in by_person]
    if not paths:
        return ()
    _reset(folder, after, paths, env)
    git(folder, "update-index", "-q", "--refresh", env=env, ok=(0, 1), seconds=LONG)
    known = set(git(folder, "ls-files", "-z", "--", *paths, env=env).names)
    other = set(git(folder, "diff-files", "--name-only", "-z", "--", *paths, env=env).names)
    other |= {path for path in paths if path not in known and os.path.lexists(folder / path)}
    _reset(folder, before, sorted(other), env)
    return tuple(path for path in paths if path not in other)


def _reset(folder: Path, commit: str, paths: Sequence[str], env: Mapping[str, str]) -> None:
    if paths:
        words = ("reset", "--quiet", commit, *FROM_INPUT)
        git(folder, *words, stdin=listing(paths), env=env, seconds=LONG)
