"""A client without an SDK, so that what is measured is the server: a process, its pipes, and the
time until its answer.
"""

import json
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measuring import as_a_user

ROOT = Path(__file__).parents[1]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class Client:
    """The client of one server process."""

    def __init__(self, *words: str, folder: Path) -> None:
        self.began = time.perf_counter()
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, *words],
            stdin=pipe,
            stdout=pipe,
            env=as_a_user(PYTHONPATH=str(ROOT)),
            cwd=folder,
        )
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request; notifications that come before it are passed over."""
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            answer = json.loads(stdout.readline())
            if answer.get("id") == self._number:
                return answer["result"]

    def greet(self) -> float:
        """Begin; seconds since the process was started."""
        self.ask("initialize", HELLO)
        took = time.perf_counter() - self.began
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return took

    def call(self, tool: str, workspace: str) -> dict[str, Any]:
        """The result of a tool that is given a workspace."""
        return self.use(tool, workspace=workspace)

    def use(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The result of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> None:
        """Go away, and wait for the process to do the same."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def connected(*words: str, folder: Path) -> Generator[Client]:
    """A client of a server that has been greeted."""
    client = Client(*words, folder=folder)
    try:
        client.greet()
        yield client
    finally:
        client.close()
