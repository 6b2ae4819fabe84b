"""Run a command under a keeper process.

The keeper ends all processes when we release it or are killed.
"""

import json
import marshal
import os
import subprocess
import sys
from ast import literal_eval
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge_bot.sandbox import keeper_process

_GONE_SECONDS = 10
_FOLDER = Path(keeper_process.__file__).parent


@dataclass(frozen=True)
class KeeperHandle:
    """A keeper with its command."""

    process: subprocess.Popen[bytes]
    output: int
    """The descriptor for the command's output."""
    answer: int

    def stop(self) -> None:
        """Close the lifeline. The keeper ends all processes and then itself."""
        if self.process.stdin:
            self.process.stdin.close()

    def report(self) -> dict[str, Any]:
        """Wait for the keeper's end and return its report on the command.

        The report is empty if the keeper was killed.
        """
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_GONE_SECONDS)
        self.process.kill()
        return literal_eval(os.read(self.answer, 65_536).decode() or "{}")


@contextmanager
def under_keeper(
    order: Mapping[str, Any], descriptors: tuple[int, ...] = ()
) -> Generator[KeeperHandle]:
    """Start a keeper with an order. On exit none of its processes is left.

    `descriptors` are passed on to the command.
    """
    answer, answer_end = os.pipe()
    try:
        process = subprocess.Popen(
            # -B: what was not compiled when it was installed stays so.
            [sys.executable, "-IBS", "-c", keeper_process.START, str(_FOLDER), str(answer_end)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={},
            pass_fds=(answer_end, *descriptors),
            start_new_session=True,
        )
    finally:
        os.close(answer_end)
    started = KeeperHandle(process, process.stdout.fileno() if process.stdout else -1, answer)
    try:
        if process.stdin:
            # By way of JSON: what is marshalled must be plain values, without enumerations.
            process.stdin.write(marshal.dumps(json.loads(json.dumps(order))))
            process.stdin.flush()
        yield started
    finally:
        started.stop()
        try:
            process.wait(_GONE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
        os.close(answer)
