"""The worker as a child process: started without the token, read line by line, asked to stop and
then killed.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import suppress
from pathlib import Path

from forge_bot.bot.worker_messages import (
    GO_ON,
    LONGEST_LINE,
    ActionEnded,
    Committed,
    InquiryAnswer,
    LogMessage,
    StepBegins,
    WorkerStopped,
    read_message,
)
from forge_bot.git.process import SIGNING_KEY

_OURS = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "GH_", "GIT_CONFIG", "STATE_")
_KEPT_BACK = frozenset({"FORGE_BOT_WAKE", SIGNING_KEY})
_KEPT = ("RUNNER_TEMP", "RUNNER_OS", "RUNNER_ARCH", "RUNNER_TOOL_CACHE")
_GENTLE_SECONDS = 4.0
"""Of the seven and a half that GitHub leaves a cancelled step before it is ended."""


def without_token(environ: Mapping[str, str], token: str) -> dict[str, str]:
    """The environment for the worker: without what belongs to the workflow, without the key that
    signs, and without any variable that has the token in it.
    """
    return {
        name: value
        for name, value in environ.items()
        if (name in _KEPT or not name.startswith(_OURS))
        and not (token and token in value)
        and name not in _KEPT_BACK
    }


def _kept_code() -> tuple[str, ...]:
    """Return the option that names where Python keeps compiled code, if this process has one."""
    prefix = sys.pycache_prefix
    return ("-X", f"pycache_prefix={prefix}") if prefix is not None else ()


class WorkerProcess:
    """One worker. Iterate over its messages, and answer each commit by `go_on`."""

    def __init__(
        self, folder: Path, arguments: tuple[str, ...], environ: Mapping[str, str]
    ) -> None:
        # -P: the folder is the repository's, and its files may have the names of our libraries.
        command = [sys.executable, *_kept_code(), "-P", "-m", "forge_bot.bot.worker", *arguments]
        # Unbuffered and in a session of its own: a signal for us is passed on by us, and what it
        # started ends with it.
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._stopped: WorkerStopped | None = None

    def messages(
        self,
    ) -> Generator[Committed | StepBegins | ActionEnded | LogMessage | InquiryAnswer]:
        """Yield the worker's messages until it has stopped; then read `stopped`."""
        out = self._process.stdout
        while out is not None and (line := out.readline(LONGEST_LINE + 1)):
            message = read_message(line)
            if message is None:
                self.kill()
                self._stopped = WorkerStopped(
                    code="ERR-001",
                    message="The worker said something that is no message.",
                    exit_code=1,
                )
                return
            if isinstance(message, WorkerStopped):
                self._stopped = message
            elif self._stopped is None:
                yield message

    def go_on(self) -> None:
        """Tell the worker that its commits are on the remote."""
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.write(GO_ON.encode())
                self._process.stdin.flush()

    def hang_up(self) -> None:
        """Ask the worker to stop at its current place."""
        with suppress(BrokenPipeError, OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def stopped(self) -> WorkerStopped:
        """Return the worker's result. A worker that died without a message has failed."""
        code = self._end()
        if self._stopped is not None:
            return self._stopped
        how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
        return WorkerStopped(
            code="ERR-001", message=f"The worker {how}, without a word.", exit_code=1
        )

    def cancel(self) -> None:
        """Ask it to stop, wait a little, and end it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(_GENTLE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the worker and all processes that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _end(self) -> int:
        self.hang_up()
        try:
            return self._process.wait(_GENTLE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()
        finally:
            # What outlives a worker could go on with its branch while that is looked at and pushed.
            self.kill()
            if self._process.stdout is not None:
                self._process.stdout.close()
