"""Objects by their names: trees, commits and files, read by a process of git that goes on between
the questions.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

from forge_bot.errors import GitFailed
from forge_bot.git.kept_process import KeptProcess, asked, is_partial
from forge_bot.git.process import LONG, QUICK, git
from forge_bot.git.revisions import own_folders
from forge_bot.lazy_regex import lazy_regex
from forge_bot.sentences import say

_AT_ONCE = 64
"""Questions that are written before their answers are read, as far as they fit into a pipe."""

_MOST_WRITTEN = 1 << 14

_MOST_BROKEN = 16
"""Broken objects that are passed over; each ends git, which is then started anew."""

_BATCH = ("cat-file", "--batch")
_SHA256_DIGITS = 64
_ROW = lazy_regex(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
_LONG_ROW = lazy_regex(rb"(\d+) ([^\0]+)\0(.{32})", re.DOTALL)


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
        waiting = iter(names)
        while left := [name.encode() for name in islice(waiting, _AT_ONCE)]:
            while left:
                found = list[GitObject | None]()
                with suppress(OSError, EOFError), asked(self._common, *_BATCH) as process:
                    for each in _answers(process, left):
                        found.append(each)
                if len(found) < len(left):
                    # Git has ended at the first that is left.
                    self._pass_over(left[len(found)])
                    found.append(None)
                yield from found
                left = left[len(found) :]

    def one(self, name: str) -> GitObject | None:
        """Return one object, or None."""
        return next(self.read((name,)))

    def _pass_over(self, name: bytes) -> None:
        self._broken += 1
        if self._broken > _MOST_BROKEN:
            raise GitFailed(
                say(
                    "git.object_reader.object_is_unreadable",
                    name=name.decode(errors="replace"),
                    common=self._common,
                ),
                hint=say("git.files_at.run_fsck"),
            )


def answers(
    folder: Path, names: Sequence[bytes], *, seconds: float = QUICK
) -> list[GitObject | None]:
    """Return the objects of names without line ends; None for one that is not there. What a partial
    clone lacks is fetched. Raises GitFailed, also where no answer comes for so long.
    """
    common = _whole_repository(folder) if 0 < len(names) <= _AT_ONCE else None
    if common is not None:
        # Git ends at a broken object. A new process says why.
        with suppress(OSError, EOFError), asked(common, *_BATCH, seconds=seconds) as process:
            return list(_answers(process, names))
    return _at_once(folder, names) if names else []


def _whole_repository(folder: Path) -> Path | None:
    """Return git's folder that all work trees share. Return None for a partial clone, where a read
    may fetch, and for anything that is no plain repository.
    """
    try:
        common = own_folders(folder)[1].resolve(strict=True)
    except OSError:
        return None
    return None if is_partial(common) else common


def _answers(process: KeptProcess, names: Sequence[bytes]) -> Iterator[GitObject | None]:
    waiting = list(names)
    while waiting:
        ends = accumulate(len(name) + 1 for name in waiting)
        count = max(1, sum(end <= _MOST_WRITTEN for end in ends))
        now, waiting = waiting[:count], waiting[count:]
        process.ask(b"".join(name + b"\n" for name in now))
        for _ in now:
            head = _head(process.line())
            data = process.exactly(head[2] + 1)[:-1] if head is not None else b""
            yield None if head is None else GitObject(head[0], head[1], data)


def _head(line: bytes) -> tuple[str, str, int] | None:
    """Return kind, id, size of an answer `<oid> SP <kind> SP <size>`; None after `… SP missing`."""
    words = line.split(b" ")
    if not words[-1].isdigit():
        return None
    oid, kind, size = words
    return kind.decode(), oid.decode(), int(size)


def _at_once(folder: Path, names: Sequence[bytes]) -> list[GitObject | None]:
    """Return the answers of a process that is started for these names."""
    stdin = b"".join(name + b"\n" for name in names)
    out = git(folder, *_BATCH, stdin=stdin, seconds=LONG).out
    found: list[GitObject | None] = []
    start = 0
    for _ in names:
        end = out.index(b"\n", start)
        head = _head(out[start:end])
        start = end + 1
        if head is not None:
            found.append(GitObject(head[0], head[1], out[start : start + head[2]]))
            start += head[2] + 1
        else:
            found.append(None)
    return found


def tree_entries(tree: GitObject) -> list[TreeEntry]:
    """Return the lines of a tree: `<mode> SP <name> NUL <id in bytes>` each."""
    form = _LONG_ROW if len(tree.oid) == _SHA256_DIGITS else _ROW
    return [TreeEntry(*row) for row in form.findall(tree.data)] if tree.kind == "tree" else []
