"""Run git read-only: it runs no configured program, fetches nothing, and has a timeout."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.providers.provider_result import Declined
from forge_bot.values import Frozen

SECONDS = 10.0
# More than any result may show; reading stops there and git is ended.
MOST_BYTES = 4_000_000
RECORDS = ".specs"
"""The folder with the records of runs."""

_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT")
# Each of these would let a setting start a program, a network connection or a write.
_QUIET = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "color.ui=false",
    "log.showSignature=false",
    "diff.ignoreSubmodules=all",
)
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "0",
}


class GitOutput(Frozen):
    """The output of git, and whether there was more."""

    code: int
    text: str
    complaint: str
    cut: bool


def git(root: Path, *arguments: str, most: int = MOST_BYTES, seconds: float = SECONDS) -> GitOutput:
    """Run git on `root`. The caller checks the exit code.

    Raises Declined with status timeout after `seconds`.
    """
    options = [part for setting in _QUIET for part in ("-c", setting)]
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _ENVIRONMENT
    with (
        TemporaryFile() as complaints,
        subprocess.Popen(
            ["git", "--no-pager", *options, *arguments],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,
        ) as process,
    ):
        output, overtime = _within(process, most, seconds)
        complaints.seek(0)
        complaint = complaints.read(4_000).decode("utf-8", "replace").strip()
    if overtime:
        raise Declined(
            ResultStatus.TIMEOUT,
            f"git {arguments[0]} took longer than {seconds:g} seconds and was ended.",
        )
    text = output[:most].decode("utf-8", "replace")
    return GitOutput(
        code=process.returncode, text=text, complaint=complaint, cut=len(output) > most
    )


def _within(process: subprocess.Popen[bytes], most: int, seconds: float) -> tuple[bytes, bool]:
    """Return the first bytes of the output, and whether time ran out.

    One extra byte is returned if there is more.
    """
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        _end(process)

    watch = Timer(seconds, end)
    watch.daemon = True
    watch.start()
    try:
        stream: IO[bytes] | None = process.stdout
        output = stream.read(most + 1) if stream else b""
        if len(output) > most:
            _end(process)
        process.wait()
    finally:
        watch.cancel()
    return output, bool(late)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and its child processes."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
