"""Show the log and differences of git, and tell private files by it. It is run read-only: it runs
no configured program, fetches nothing, and has a timeout.
"""

import os
import re
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from pydantic import Field

from forge_bot.agent.capabilities import ResultStatus
from forge_bot.agent.paths import normalise
from forge_bot.agent.providers.provider_result import Declined, ProviderResult, head
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

        def end() -> None:
            # What git has started holds its output open.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

        overtime = threading.Event()
        watch = threading.Timer(seconds, lambda: (overtime.set(), end()))
        watch.start()
        try:
            # One byte more tells that there is more.
            output = process.stdout.read(most + 1) if process.stdout else b""
            if len(output) > most:
                end()
            process.wait()
        finally:
            watch.cancel()
        complaints.seek(0)
        complaint = complaints.read(4_000).decode("utf-8", "replace").strip()
    if overtime.is_set():
        raise Declined(
            ResultStatus.TIMEOUT,
            f"git {arguments[0]} took longer than {seconds:g} seconds and was ended.",
        )
    text = output[:most].decode("utf-8", "replace")
    return GitOutput(
        code=process.returncode, text=text, complaint=complaint, cut=len(output) > most
    )


_COMMITS = 20


class GitLog(Frozen):
    """Show the latest commits, newest first: hash, date, author, subject."""

    path: str | None = Field(
        default=None, description="only commits that touch this file or folder"
    )
    count: int | None = Field(
        default=None, ge=1, le=200, description=f"how many commits, {_COMMITS} if left out"
    )


def git_log(root: Path, wanted: GitLog, limit: int) -> ProviderResult:
    """Return one line for each commit."""
    scope = [f":(literal){path}"] if (path := normalise(wanted.path or "")) else []
    shown = "--format=%h %ad %an: %s"
    output = git(
        root, "log", f"--max-count={wanted.count or _COMMITS}", "--date=short", shown, "--", *scope
    )
    if output.code:
        raise Declined(ResultStatus.TOOL_ERROR, f"git has no log to show: {output.complaint[:300]}")
    return head(output.text, limit) if output.text else ProviderResult(content="No commits.")


# Inside a submodule git obeys the settings of that repository, which a command may have made there.
# The option wins over `ignore` in .gitmodules, which wins over settings.
_FORM = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--stat", "--patch")


class GitDiff(Frozen):
    """Show the difference between a commit and the files as they are now, without .specs."""

    base: str | None = Field(
        default=None, description="commit, branch or tag; where this work began if left out"
    )
    path: str | None = Field(default=None, description="only this file or folder")


def git_diff(root: Path, wanted: GitDiff, limit: int, start: str) -> ProviderResult:
    """Return a unified diff. `start` is the base when none is named."""
    path = normalise(wanted.path or "")
    scope = [f":(literal){path}"] if path else [":(top)", f":(top,exclude){RECORDS}"]
    commit = _commit(root, wanted.base or start)
    output = git(root, "diff", *_FORM, commit, "--", *scope)
    if output.code and not output.cut:
        raise Declined(ResultStatus.TOOL_ERROR, f"git cannot compare: {output.complaint[:300]}")
    new = git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", *scope).text.rstrip(
        "\0"
    )
    named = "".join(f"Not tracked yet: {name}\n" for name in new.split("\0") if name)
    return (
        head(named + output.text, limit, f"since {commit[:12]}")
        if named or output.text
        else ProviderResult(content="No difference.")
    )


def _commit(root: Path, base: str) -> str:
    """Return the full id of a commit, so that no text of the model is in the command line."""
    if any(not char.isprintable() for char in base):
        raise Declined(ResultStatus.INVALID_PARAMS, "A commit's name has no control characters.")
    output = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if output.code or not output.text.strip():
        raise Declined(ResultStatus.INVALID_PARAMS, f"There is no commit {base}.")
    return output.text.strip()


_SECRET_NAME = re.compile(
    r"\.env(?:\.(?!example$|sample$|template$|dist$).+)?|\.netrc|\.npmrc|\.pypirc|id_"
    r"(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:pem|key|p12|pfx)",
    re.IGNORECASE,
)


def is_private(root: Path, path: str) -> bool:
    """Return whether git does not know the file and its name says that it holds secrets."""
    named = _SECRET_NAME.fullmatch(path.rpartition("/")[2])
    return bool(named and git(root, "ls-files", "--error-unmatch", "--", f":(literal){path}").code)
