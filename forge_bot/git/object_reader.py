"""Objects by their names: trees, commits and files, each question by one process of git."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.errors import GitFailed
from forge_bot.git.process import LONG, git
from forge_bot.sentences import say

_MOST_BROKEN = 16
"""Broken objects that are passed over."""

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
    """A reader of any number of objects. In a partial clone nothing is fetched: an object that is
    not local is missing.
    """

    def __init__(self, common: Path) -> None:
        self._common = common
        self._broken = 0

    def read(self, names: Sequence[str]) -> Iterator[GitObject | None]:
        """Yield the objects of these names in their order; None for one that is missing or broken.

        A name is an id, or an id of a tree or commit with `:PATH`. It has no line end.
        """
        yield from self._read([name.encode() for name in names])

    def one(self, name: str) -> GitObject | None:
        """Return one object, or None."""
        return next(self.read((name,)))

    def _read(self, names: Sequence[bytes]) -> list[GitObject | None]:
        """Read the objects; git ends at a broken one, so each half is then read by itself."""
        try:
            with tempfile.TemporaryDirectory(prefix="forge-bot-") as apart:
                return _asked(self._common, names, _without_remotes(self._common, Path(apart)))
        except GitFailed:
            if len(names) > 1:
                half = len(names) // 2
                return [*self._read(names[:half]), *self._read(names[half:])]
        self._broken += 1
        if self._broken > _MOST_BROKEN:
            shown = names[0].decode(errors="replace")
            raise GitFailed(
                say("git.object_reader.object_is_unreadable", name=shown, common=self._common),
                hint=say("git.files_at.run_fsck"),
            )
        return [None]


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
    found: list[GitObject | None] = []
    start = 0
    for _ in names:
        end = out.index(b"\n", start)
        words = out[start:end].split(b" ")
        start = end + 1
        if not words[-1].isdigit():
            found.append(None)
            continue
        oid, kind, size = words
        found.append(GitObject(kind.decode(), oid.decode(), out[start : start + int(size)]))
        start += int(size) + 1
    return found


def _is_partial(common: Path) -> bool:
    """Return whether this is a partial clone, in which a question may fetch."""
    return any((common / "objects" / "pack").glob("*.promisor"))


def _without_remotes(common: Path, place: Path) -> dict[str, str]:
    """Return an environment in which git reads the objects of a repository and fetches none. Git
    before 2.45 has no setting for that, so a partial clone's objects are read by a repository at
    `place` without its configuration.
    """
    if not _is_partial(common):
        return {"GIT_DIR": str(common)}
    for folder in ("objects", "refs"):
        (place / folder).mkdir()
    (place / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    if b"sha256" in (common / "config").read_bytes().lower():
        text = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n"
        (place / "config").write_text(text, encoding="utf-8")
    return {"GIT_DIR": str(place), "GIT_OBJECT_DIRECTORY": str(common / "objects")}


def tree_entries(tree: GitObject) -> list[TreeEntry]:
    """Return the lines of a tree: `<mode> SP <name> NUL <id in bytes>` each."""
    form = _LONG_ROW if len(tree.oid) == _SHA256_DIGITS else _ROW
    return [TreeEntry(*row) for row in form.findall(tree.data)] if tree.kind == "tree" else []
