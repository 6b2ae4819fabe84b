"""Objects by their names: trees, commits and files, each question by one process of git."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.process import LONG, git

_SHA256_DIGITS = 64
_FOLDER_ROW = re.compile(rb"40000 ([^\0]+)\0(.{20})|\d+ [^\0]+\0.{20}", re.DOTALL)
_LONG_FOLDER = re.compile(rb"40000 ([^\0]+)\0(.{32})|\d+ [^\0]+\0.{32}", re.DOTALL)


class GitObject(NamedTuple):
    """An object as git keeps it."""

    kind: str
    oid: str
    data: bytes

    def folders(self) -> dict[str, str]:
        """Return the folders directly in a tree, by name with the ids of their trees:
        `<mode> SP <name> NUL <id in bytes>` each.
        """
        form = _LONG_FOLDER if len(self.oid) == _SHA256_DIGITS else _FOLDER_ROW
        rows = form.findall(self.data) if self.kind == "tree" else ()
        return {os.fsdecode(name): oid.hex() for name, oid in rows if name}


def read_objects(
    folder: Path, names: Sequence[str], *, fetching: bool = True
) -> list[GitObject | None]:
    """Return the objects of names without line ends; None for one that is not there. Raises
    GitFailed for a broken one.

    A name is an id, or an id of a tree or commit with `:PATH`. What a partial clone lacks is
    fetched, or missing without `fetching` (by git 2.45 and later).
    """
    if not names:
        return []
    env = {} if fetching else {"GIT_NO_LAZY_FETCH": "1"}
    stdin = "".join(f"{name}\n" for name in names).encode(errors="surrogateescape")
    out = git(folder, "cat-file", "--batch", "--buffer", stdin=stdin, env=env, seconds=LONG).out
    return _answers(out, len(names))


def _answers(out: bytes, count: int) -> list[GitObject | None]:
    """Read what `git cat-file --batch` prints for each name: `<oid> SP <kind> SP <size> LF <data>
    LF`, or `<name> SP missing LF`.
    """
    objects: list[GitObject | None] = []
    start = 0
    for _ in range(count):
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
