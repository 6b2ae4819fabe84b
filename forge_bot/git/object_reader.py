"""Objects by their names: trees, commits and files, each question by one process of git."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.process import LONG, git

_SHA256_DIGITS = 64
_ROW = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
_LONG_ROW = re.compile(rb"(\d+) ([^\0]+)\0(.{32})", re.DOTALL)


class GitObject(NamedTuple):
    """An object as git keeps it."""

    kind: str
    oid: str
    data: bytes


class TreeEntry(NamedTuple):
    """One line of a tree: a file, a folder, a link or a submodule. The id is in bytes."""

    mode: bytes
    name: bytes
    oid: bytes

    @property
    def is_folder(self) -> bool:
        """Return whether it is a folder."""
        return self.mode == b"40000"


class ObjectReader:
    """A reader of any number of objects. In a partial clone nothing is fetched, by git 2.45 and
    later: an object that is not local is missing.
    """

    def __init__(self, common: Path) -> None:
        self._env = {"GIT_DIR": str(common), "GIT_NO_LAZY_FETCH": "1"}
        self._common = common

    def read(self, names: Sequence[str]) -> Iterator[GitObject | None]:
        """Yield the objects of these names in their order; None for one that is missing. Raises
        GitFailed for a broken one.

        A name is an id, or an id of a tree or commit with `:PATH`. It has no line end.
        """
        yield from _asked(self._common, [name.encode() for name in names], self._env)

    def one(self, name: str) -> GitObject | None:
        """Return one object, or None."""
        return next(self.read((name,)))


def answers(folder: Path, names: Sequence[bytes]) -> list[GitObject | None]:
    """Return the objects of names without line ends; None for one that is not there. What a partial
    clone lacks is fetched. Raises GitFailed.
    """
    return _asked(folder, names, {})


def _asked(folder: Path, names: Sequence[bytes], env: Mapping[str, str]) -> list[GitObject | None]:
    """Read what `git cat-file --batch` says of each name: `<oid> SP <kind> SP <size> LF <data> LF`,
    or `<name> SP missing LF`.
    """
    if not names:
        return []
    stdin = b"".join(name + b"\n" for name in names)
    out = git(folder, "cat-file", "--batch", "--buffer", stdin=stdin, env=env, seconds=LONG).out
    objects: list[GitObject | None] = []
    start = 0
    for _ in names:
        end = out.index(b"\n", start)
        words = out[start:end].split(b" ")
        start = end + 1
        if not words[-1].isdigit():
            objects.append(None)
            continue
        oid, kind, size = words
        objects.append(GitObject(kind.decode(), oid.decode(), out[start : start + int(size)]))
        start += int(size) + 1
    return objects


def tree_entries(tree: GitObject) -> list[TreeEntry]:
    """Return the lines of a tree: `<mode> SP <name> NUL <id in bytes>` each."""
    form = _LONG_ROW if len(tree.oid) == _SHA256_DIGITS else _ROW
    return [TreeEntry(*row) for row in form.findall(tree.data)] if tree.kind == "tree" else []
