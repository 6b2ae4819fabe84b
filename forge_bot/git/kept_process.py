"""Long-running processes of git, one for each kind of question about a repository."""

import atexit
import os
import select
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge_bot.errors import GitFailed
from forge_bot.git.process import QUICK, begin
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
