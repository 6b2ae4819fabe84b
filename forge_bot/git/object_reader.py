"""Objects by their names: trees, commits and files, read by processes of git that go on between the
questions.
"""

import atexit
import os
import re
import select
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

from forge_bot.errors import GitFailed
from forge_bot.git.process import LONG, QUICK, begin, git
from forge_bot.git.revisions import own_folders
from forge_bot.sentences import say

_MOST_REPOSITORIES = 2
"""Repositories whose processes are kept; the least recently used one is ended first."""

_CHUNK = 1 << 16

_running: OrderedDict[Path, "dict[tuple[str, ...], KeptProcess]"] = OrderedDict()
_lock = threading.RLock()


class KeptProcess:
    """A git process that answers one question after the other at once.

    It runs outside of all work trees, because a search there for a git at work would wait for this
    one.
    """

    def __init__(self, common: Path, words: tuple[str, ...]) -> None:
        self._words = words
        self._apart: Path | None = None
        self._left = bytearray()
        self.seconds = QUICK
        env = {"GIT_DIR": str(common), "GIT_NO_LAZY_FETCH": "1"}
        if is_partial(common):
            self._apart = Path(tempfile.mkdtemp(prefix="forge-bot-"))
            env |= _without_remotes(common, self._apart)
        self._process = begin(Path(common.anchor), *words, env=env)

    def ask(self, question: bytes) -> None:
        """Send a question. It has to fit into a pipe, for git may be busy with its answer."""
        if self._process.stdin is None:
            raise EOFError
        self._process.stdin.write(question)
        self._process.stdin.flush()

    def line(self) -> bytes:
        """Return the next line of the answer, without its end. Raises EOFError where git has ended,
        and GitFailed where it says nothing for too long.
        """
        start = 0
        while (end := self._left.find(b"\n", start)) < 0:
            start = len(self._left)
            self._more()
        return self._taken(end + 1)[:-1]

    def exactly(self, size: int) -> bytes:
        """Return this number of bytes of the answer. Raises as `line` does."""
        while len(self._left) < size:
            self._more()
        return self._taken(size)

    def end(self) -> None:
        """End git, and discard its open questions."""
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        self._process.kill()
        self._process.wait()
        if self._apart is not None:
            shutil.rmtree(self._apart, ignore_errors=True)

    def _taken(self, size: int) -> bytes:
        found = bytes(self._left[:size])
        del self._left[:size]
        return found

    def _more(self) -> None:
        if self._process.stdout is None:
            raise EOFError
        told = self._process.stdout.fileno()
        waiting = select.poll()
        waiting.register(told, select.POLLIN)
        if not waiting.poll(self.seconds * 1_000):
            raise GitFailed(
                say(
                    "git.kept_process.no_answer_in_time",
                    words=" ".join(self._words),
                    seconds=self.seconds,
                ),
                hint=say("git.kept_process.check_the_disk"),
            )
        data = os.read(told, _CHUNK)
        if not data:
            raise EOFError
        self._left += data


@contextmanager
def asked(common: Path, *words: str, seconds: float = QUICK) -> Generator[KeptProcess]:
    """Give the process of these words to this thread alone. Where a question fails it is ended: the
    rest of the answer would be taken for that of the next one.
    """
    with _lock:
        process = _started(common, words)
        process.seconds = seconds
        try:
            yield process
        except BaseException:
            _running.get(common, {}).pop(words, None)
            process.end()
            raise


def _started(common: Path, words: tuple[str, ...]) -> KeptProcess:
    while common not in _running and len(_running) >= _MOST_REPOSITORIES:
        for process in _running.popitem(last=False)[1].values():
            process.end()
    known = _running.setdefault(common, {})
    _running.move_to_end(common)
    if words not in known:
        known[words] = KeptProcess(common, words)
    return known[words]


def _end_all() -> None:
    while _running:
        for process in _running.popitem()[1].values():
            process.end()


atexit.register(_end_all)
# A copy of this process must not ask the same ones.
os.register_at_fork(after_in_child=_running.clear)


def is_partial(common: Path) -> bool:
    """Return whether this is a partial clone, in which a question may fetch."""
    return any((common / "objects" / "pack").glob("*.promisor"))


def _without_remotes(common: Path, place: Path) -> dict[str, str]:
    """Return the environment of a repository at `place` that has the objects of another one and not
    its configuration: git before 2.45 has no setting against fetching.
    """
    for folder in ("objects", "refs"):
        (place / folder).mkdir(exist_ok=True)
    (place / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    config = common / "config"
    if config.is_file() and b"sha256" in config.read_bytes().lower():
        text = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n"
        (place / "config").write_text(text, encoding="utf-8")
    return {"GIT_DIR": str(place), "GIT_OBJECT_DIRECTORY": str(common / "objects")}


_AT_ONCE = 64
"""Questions that are written before their answers are read, as far as they fit into a pipe."""

_MOST_WRITTEN = 1 << 14

_MOST_BROKEN = 16
"""Broken objects that are passed over; each ends git, which is then started anew."""

_BATCH = ("cat-file", "--batch")
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
