"""Answers of `git cat-file --batch`: a repository that is read again and again is asked through one
process that goes on between the questions.
"""

import atexit
import os
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.process import LONG, begin, git
from forge_bot.git.revisions import own_folders

_MOST_RUNNING = 2
"""Repositories whose process goes on; the one that was asked last stays longest."""

_MOST_QUESTIONS = 64
"""With more of them, a process of its own is worth its start."""

_running: OrderedDict[Path, "subprocess.Popen[bytes]"] = OrderedDict()
_lock = threading.Lock()


class BatchAnswer(NamedTuple):
    """The answer to one name: `<oid> SP <kind> SP <size>` and the object's bytes, or another line
    and none.
    """

    head: bytes
    data: bytes | None

    @property
    def kind(self) -> bytes:
        """Return the kind of the object; empty where there is none."""
        return self.head.rpartition(b" ")[0].rpartition(b" ")[2] if self.data is not None else b""


def answers(folder: Path, names: Sequence[bytes]) -> list[BatchAnswer]:
    """Return git's answers for names without line ends. Raises GitFailed."""
    common = _whole_repository(folder) if 0 < len(names) <= _MOST_QUESTIONS else None
    if common is not None:
        with _lock:
            try:
                return _asked(common, names)
            except (OSError, EOFError, ValueError):
                # Git has ended, as it does at an object that is broken. Asked anew it says why.
                _end(common)
            except BaseException:
                # Nobody has read the rest of the answer.
                _end(common)
                raise
    return _at_once(folder, names) if names else []


def _whole_repository(folder: Path) -> Path | None:
    """Return git's folder that all work trees share; None for a partial clone, where a question may
    fetch and so needs a time limit, and for what is no plain repository.
    """
    try:
        _, common = own_folders(folder)
        partial = any((common / "objects" / "pack").glob("*.promisor"))
        return None if partial else common.resolve(strict=True)
    except OSError:
        return None


def _asked(common: Path, names: Sequence[bytes]) -> list[BatchAnswer]:
    process = _running.get(common) or _started(common)
    _running.move_to_end(common)
    if process.stdin is None or process.stdout is None:
        raise EOFError
    found: list[BatchAnswer] = []
    for name in names:
        process.stdin.write(name + b"\n")
        process.stdin.flush()
        head = process.stdout.readline()
        if not head.endswith(b"\n"):
            raise EOFError
        head = head[:-1]
        data = None
        if (size := _size(head)) is not None:
            data = process.stdout.read(size + 1)
            if len(data) != size + 1:
                raise EOFError
            data = data[:-1]
        found.append(BatchAnswer(head, data))
    return found


def _size(head: bytes) -> int | None:
    """Return the length of what follows a line of an answer; None after `<name> SP missing`."""
    size = head.rpartition(b" ")[2]
    return int(size) if size.isdigit() else None


def _started(common: Path) -> "subprocess.Popen[bytes]":
    while len(_running) >= _MOST_RUNNING:
        _end(next(iter(_running)))
    # Not in the work tree: who looks there for a git that is still at work would wait for this one.
    top = Path(common.anchor)
    _running[common] = begin(top, "cat-file", "--batch", env={"GIT_DIR": str(common)})
    return _running[common]


def _end(common: Path) -> None:
    process = _running.pop(common, None)
    if process is None:
        return
    for stream in (process.stdin, process.stdout):
        try:
            if stream is not None:
                stream.close()
        except OSError:
            continue
    process.kill()
    process.wait()


def _end_all() -> None:
    for common in list(_running):
        _end(common)


atexit.register(_end_all)
# A copy of this process must not ask the same one.
os.register_at_fork(after_in_child=_running.clear)


def _at_once(folder: Path, names: Sequence[bytes]) -> list[BatchAnswer]:
    """Return the answers of a process that is started for these names."""
    asked = b"".join(name + b"\n" for name in names)
    out = git(folder, "cat-file", "--batch", stdin=asked, seconds=LONG).out
    found: list[BatchAnswer] = []
    start = 0
    for _ in names:
        end = out.index(b"\n", start)
        head = out[start:end]
        start = end + 1
        data = None
        if (size := _size(head)) is not None:
            data = out[start : start + size]
            start += size + 1
        found.append(BatchAnswer(head, data))
    return found
