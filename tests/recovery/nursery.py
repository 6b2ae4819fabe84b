"""Processes of forge-bot that begin at once: an interpreter that has loaded everything forks for
each of them.

What a fork runs is `python -m forge_bot WORDS`, and it is a process like any other: it can be
killed, and takes nothing along.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.fakes.warm_python import build_models, leave_without_cleaning, load, run_as_main

ROOT = Path(__file__).parents[2]
_LIBRARIES = (
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai",
    # What some commands read only when they need it.
    "filelock",
    "rank_bm25",
)
_WITHOUT = ("bot", "mcp_server", "temporal")
"""The rooms that no command here needs."""


class Nursery:
    """Starts processes of forge-bot, and waits for them."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.recovery.nursery"],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def start(
        self, words: tuple[str, ...], folder: Path, environment: Mapping[str, str], out: Path
    ) -> int:
        """Begin `forge-bot WORDS` in a folder, with both outputs into a file; its process id."""
        pid = self._asked(
            {
                "words": words,
                "folder": str(folder),
                "environment": dict(environment),
                "out": str(out),
            }
        )
        # What is taken for a process id here may be sent SIGKILL: 0 and 1 would mean everybody.
        assert pid > 1
        return pid

    def wait(self, pid: int, seconds: float = 90) -> int:
        """The exit code of a process, negative for the signal that ended it."""
        alarm = threading.Timer(seconds, os.kill, (pid, 9))
        alarm.start()
        try:
            return os.waitstatus_to_exitcode(self._asked({"wait": pid}))
        finally:
            alarm.cancel()

    def _asked(self, order: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def _become(order: dict[str, Any]) -> None:
    # For a shim that must know its parent: the name of the file that takes our process id.
    if note := order["environment"].pop("NURSERY_PID", None):
        Path(note).write_text(f"{os.getpid()}\n", encoding="ascii")
    # As at a terminal, or as in the background of a script, however these tests were started.
    background = order["environment"].pop("NURSERY_BACKGROUND", None)
    signal.signal(signal.SIGINT, signal.SIG_IGN if background else signal.default_int_handler)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    for number, flags, name in (
        (0, os.O_RDONLY, os.devnull),
        (1, os.O_WRONLY | os.O_CREAT | os.O_APPEND, order["out"]),
    ):
        file = os.open(name, flags, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.dup2(1, 2)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115 - as long as the process
    sys.argv = ["forge-bot", *order["words"]]
    run_as_main("forge_bot")


def main() -> None:
    """Serve orders until stdin ends."""
    leave_without_cleaning()
    load(_LIBRARIES, _WITHOUT)
    build_models()
    # Nothing of this is garbage: processes that look for some would copy it all.
    gc.freeze()
    while line := sys.stdin.readline():
        order = json.loads(line)
        if "wait" in order:
            sys.stdout.write(f"{os.waitpid(order['wait'], 0)[1]}\n")
        elif pid := os.fork():
            sys.stdout.write(f"{pid}\n")
        else:
            return _become(order)
        sys.stdout.flush()
    return None


if __name__ == "__main__":
    main()
