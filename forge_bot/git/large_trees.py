"""Commits in work trees of many files, where git's own `commit` reads the times of all of them.

A commit of named files is made of their entries in the index, by plumbing. It is the same commit
with the same index behind it (`tests/git/test_large_trees.py`); of 20,000 files it takes 15 ms of a
processor instead of 75.
"""

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

from forge_bot.git import commits
from forge_bot.git.commit_history import FileVersion
from forge_bot.git.commit_objects import tree_with
from forge_bot.git.index_file import INDEX, IndexFile, NotPlain
from forge_bot.git.new_commits import note_people, people_in, written
from forge_bot.git.process import LONG, git, listing
from forge_bot.git.revisions import Head, head, own_folders, tree_id, under_way
from forge_bot.git.tree_entries import GONE, SUBMODULE, ListedEntry, files_below, find

_LARGE = 1 << 18
"""Bytes of an index from which on plumbing is faster: that of some 2,500 files."""

_MOST_NAMED = 2_000
_SPACE = " \t\r\v\f"
_OTHER_LETTERS = (b"ignorecase", b"precomposeunicode")
"""Settings of file systems that know one file by several names. Git writes them where that is
so.
"""


def commit(
    folder: Path,
    message: str,
    trailers: Sequence[tuple[str, str]],
    paths: Sequence[str] | None = None,
    *,
    when: str | None = None,
) -> str | None:
    """Commit everything, or exactly the named files and folders, as `commits.commit` does."""
    if paths and is_large(folder):
        text = commits.message_text(message, trailers)
        try:
            return _of_entries(folder, text, [posixpath.normpath(path) for path in paths], when)
        except NotPlain:
            pass
    return commits.commit(folder, message, trailers, paths, when=when)


def is_large(folder: Path) -> bool:
    """Return whether the index of a work tree is that of many files."""
    try:
        return (own_folders(folder)[0] / INDEX).stat().st_size >= _LARGE
    except OSError:
        return False


def _of_entries(folder: Path, text: str, paths: Sequence[str], when: str | None) -> str | None:
    """Put the files into the index, and make a commit of what it then has at the paths. Raises
    NotPlain before anything is done.
    """
    before = head(folder)
    own, common = own_folders(folder)
    _require_plain(folder, own, common)
    known = IndexFile(own, len(before.commit)).under(paths)
    names = dict.fromkeys(chain(known, *(_lying_at(folder, path) for path in paths)))
    tree = tree_id(folder, before.commit)
    old = dict(chain.from_iterable(_committed(folder, tree, path) for path in paths))
    modes = {entry.mode for entry in chain(known.values(), old.values())}
    if len(names) > _MOST_NAMED or SUBMODULE in modes:
        raise NotPlain
    if names:
        options = ("-z", "--add", "--remove", "--replace", "--stdin")
        git(folder, "update-index", *options, stdin=listing(names), seconds=LONG)
    new = IndexFile(own, len(before.commit)).under(paths)
    changes = [
        FileVersion(path, entry.mode, entry.oid)
        for path, entry in new.items()
        if old.get(path) != entry
    ]
    changes += [FileVersion(path, GONE, "") for path in old if path not in new]
    return _made(folder, before, tree_with(folder, tree, changes), text, when) if changes else None


def _require_plain(folder: Path, own: Path, common: Path) -> None:
    """Raise NotPlain where a commit of named files is more than their entries: in a merge, in a
    sparse checkout, and where one file has several names.
    """
    config = (common / "config").read_bytes().lower()
    sparse = (own / "info" / "sparse-checkout").exists()
    if sparse or under_way(folder) or any(each in config for each in _OTHER_LETTERS):
        raise NotPlain


def _lying_at(folder: Path, path: str) -> Iterator[str]:
    """Yield the files that lie at a path of the work tree. Raises NotPlain for another path, and
    for a repository inside.
    """
    parts = path.split("/")
    if not path or path.startswith("/") or {".", "..", ".git"} & set(parts):
        raise NotPlain
    place = folder / path
    if place.is_symlink() or not place.is_dir():
        if os.path.lexists(place):
            yield path
        return
    for at, folders, files in os.walk(place):
        if ".git" in (*folders, *files):
            raise NotPlain
        links = [name for name in folders if Path(at, name).is_symlink()]
        yield from (os.path.relpath(Path(at, name), folder) for name in (*files, *links))


def _committed(folder: Path, tree: str, path: str) -> Iterator[tuple[str, ListedEntry]]:
    """Yield the entries of a tree at a path and below it."""
    found = find(folder, tree, path)
    if found is not None and found.kind == "tree":
        yield from files_below(folder, found.oid, f"{path}/")
    elif found is not None:
        yield path, found


def _made(folder: Path, before: Head, tree: str, text: str, when: str | None) -> str:
    """Make the commit of a tree, and move the branch from where it was seen to it."""
    message = _cleaned(text)
    stdin = message.encode(errors="replace")
    people = people_in(folder, when) if when else (None, None)
    made = written(folder, tree, (before.commit,), people, stdin)
    if made is None:
        made = _by_git(folder, before, tree, stdin, when)
        note_people(folder, made)
    said = f"commit: {message.partition(chr(10))[0]}"
    git(folder, "update-ref", "-m", said, "HEAD", made, before.commit)
    return made


def _by_git(folder: Path, before: Head, tree: str, message: bytes, when: str | None) -> str:
    """Have git make the commit, in the name that its settings have for the user."""
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else {}
    words = (*commits.SETTINGS, "commit-tree", tree, "-p", before.commit)

    def recorded(ours: Mapping[str, str]) -> str:
        return git(folder, *words, stdin=message, env={**ours, **dates}, seconds=LONG).line

    return commits.in_a_name(folder, recorded)


def _cleaned(text: str) -> str:
    """Return a message as `git commit --cleanup=whitespace` keeps it."""
    lines = [line.rstrip(_SPACE) for line in text.split("\n")]
    kept = [line for before, line in pairwise(["", *lines]) if before or line]
    return "\n".join(kept).rstrip("\n") + "\n"
