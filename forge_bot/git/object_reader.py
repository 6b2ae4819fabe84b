"""Objects by their ids, read by one process for as many as are asked for, one after another."""

import contextlib
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Self

from forge_bot.errors import GitFailed
from forge_bot.git.process import LONG, begin

_AT_ONCE = 64
"""Questions that are written before their answers are read: they fit into any pipe."""

_MOST_BROKEN = 16
"""Broken objects that are passed over; each ends git, which is then started anew."""

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
    """A `git cat-file --batch` that is started by the first question and ended by the `with`.

    In a partial clone nothing is fetched: what is not here is missing. Git before 2.45 has no
    setting for that, so it is shown the objects without the configuration that names the remote.
    """

    def __init__(self, root: Path, common: Path) -> None:
        self._root = root
        self._common = common
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: threading.Timer | None = None
        self._apart: tempfile.TemporaryDirectory[str] | None = None
        self._broken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        if self._apart is not None:
            self._apart.cleanup()

    def read(self, names: Sequence[str]) -> Iterator[GitObject | None]:
        """Yield the objects of these names in their order; None for one that is missing or broken.

        A name is an id, or an id of a tree or commit with `:PATH`. It has no line end.
        """
        for start in range(0, len(names), _AT_ONCE):
            left = names[start : start + _AT_ONCE]
            while left:
                for found in self._answers(left):
                    left = left[1:]
                    yield found
                if left:
                    # Git has ended at the first that is left.
                    self._pass_over(left[0])
                    left = left[1:]
                    yield None

    def one(self, name: str) -> GitObject | None:
        """Return one object, or None."""
        return next(self.read((name,)))

    def _answers(self, names: Sequence[str]) -> Iterator[GitObject | None]:
        """Yield the answers to some questions, fewer if git ends before the last."""
        with contextlib.suppress(BrokenPipeError, EOFError):
            asked, told = self._pipes()
            asked.write("".join(f"{name}\n" for name in names).encode())
            asked.flush()
            for _ in names:
                yield _answer(told)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            env = {"GIT_NO_LAZY_FETCH": "1"}
            objects = self._common / "objects"
            if any(objects.glob("pack/*.promisor")):
                env |= self._without_remotes(objects)
            self._process = begin(self._root, "cat-file", "--batch", env=env)
            self._watch = threading.Timer(LONG, self._process.kill)
            self._watch.daemon = True
            self._watch.start()
        if self._process.stdin is None or self._process.stdout is None:
            raise EOFError
        return self._process.stdin, self._process.stdout

    def _without_remotes(self, objects: Path) -> dict[str, str]:
        """Return the environment of a repository that has these objects and no configuration."""
        self._apart = self._apart or tempfile.TemporaryDirectory(prefix="forge-bot-")
        place = Path(self._apart.name)
        for folder in ("objects", "refs"):
            (place / folder).mkdir(exist_ok=True)
        (place / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        config = self._common / "config"
        if config.is_file() and b"sha256" in config.read_bytes().lower():
            text = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n"
            (place / "config").write_text(text, encoding="utf-8")
        return {"GIT_DIR": str(place), "GIT_OBJECT_DIRECTORY": str(objects)}

    def _pass_over(self, name: str) -> None:
        self._end()
        self._broken += 1
        if self._broken > _MOST_BROKEN:
            raise GitFailed(
                f"Git cannot read the object {name} in {self._root}.",
                hint="`git fsck` says what is broken; a fresh clone mends it.",
            )

    def _end(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()
            self._process.kill()
            self._process.wait()
        self._process = self._watch = None


def _answer(told: IO[bytes]) -> GitObject | None:
    """Return what one answer says: `<oid> SP <kind> SP <size> LF <contents> LF`, or `<name> SP
    missing LF`.
    """
    head = told.readline()
    if not head.endswith(b"\n"):
        raise EOFError
    words = head.decode(errors="replace").split()
    if not words[-1].isdecimal():
        return None
    oid, kind, size = words
    data = told.read(int(size) + 1)
    if len(data) != int(size) + 1:
        raise EOFError
    return GitObject(kind, oid, data[:-1])


def tree_entries(tree: GitObject) -> list[TreeEntry]:
    """Return the lines of a tree: `<mode> SP <name> NUL <id in bytes>` each."""
    form = _LONG_ROW if len(tree.oid) == _SHA256_DIGITS else _ROW
    return [TreeEntry(*row) for row in form.findall(tree.data)] if tree.kind == "tree" else []
