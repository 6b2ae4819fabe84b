"""git, for reading: nothing of the repository's configuration is run, nothing is fetched, and it ends in time."""

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
"""Folder with the records of runs."""

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
    "GIT_LITERAL_PATHSPECS": "0",
}


class GitOutput(Frozen):
    """What git printed, and whether there was more."""

    code: int
    text: str
    complaint: str
    cut: bool


def git(root: Path, *arguments: str, most: int = MOST_BYTES, seconds: float = SECONDS) -> GitOutput:
    """Run git on `root`. Raises Declined with status timeout after `seconds`; exit codes are the caller's to read."""
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
        raise Declined(ResultStatus.TIMEOUT, f"git {arguments[0]} took longer than {seconds:g} seconds and was ended.")
    text = output[:most].decode("utf-8", "replace")
    return GitOutput(code=process.returncode, text=text, complaint=complaint, cut=len(output) > most)


def _within(process: subprocess.Popen[bytes], most: int, seconds: float) -> tuple[bytes, bool]:
    """The first bytes of the output, one more than `most` if there are more; and whether time ran out."""
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
    """End git and what it started."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
