"""Show differences by git, and tell private files by it. It fetches nothing, and ends after a
time.
"""

import re
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryFile

from pydantic import Field

from forge_bot.agent.capabilities import Declined, ProviderResult, ResultStatus, head
from forge_bot.agent.text_files import normalise
from forge_bot.errors import GitFailed
from forge_bot.git.process import git as run_git
from forge_bot.values import Frozen

SECONDS = 10.0
# More than any result may show; reading stops there and git is ended.
MOST_BYTES = 4_000_000
RECORDS = ".specs"
"""The folder with the records of runs."""

_SETTINGS = ("color.ui=false", "diff.ignoreSubmodules=all")
_PLAIN = tuple(part for setting in _SETTINGS for part in ("-c", setting))
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "0",
}
_ANSWERS = (0, 1, -signal.SIGPIPE)


class GitOutput(Frozen):
    """The output of git, and whether there was more."""

    code: int
    text: str = ""
    complaint: str = ""
    cut: bool = False


def git(root: Path, *arguments: str, most: int = MOST_BYTES, seconds: float = SECONDS) -> GitOutput:
    """Run git on `root`. The caller checks the exit code.

    Raises Declined with status timeout after `seconds`.
    """
    with (
        TemporaryFile() as kept,
        # One byte more tells that there is more, and ends git.
        subprocess.Popen(
            ["head", "-c", str(most + 1)], stdin=subprocess.PIPE, stdout=kept
        ) as first,
    ):
        try:
            result = run_git(
                root,
                *_PLAIN,
                *arguments,
                env=_ENVIRONMENT,
                seconds=seconds,
                ok=_ANSWERS,
                into=first.stdin,
            )
        except GitFailed as error:
            if not error.output:
                raise Declined(ResultStatus.TIMEOUT, error.message) from None
            return GitOutput(code=128, complaint=error.output)
        assert first.stdin is not None  # noqa: S101 - it is a pipe
        first.stdin.close()
        first.wait()
        kept.seek(0)
        output = kept.read()
    text = output[:most].decode("utf-8", "replace")
    return GitOutput(code=result.code, text=text, cut=len(output) > most)


# Inside a submodule git obeys the settings of that repository, which a command may have made there.
# The option wins over `ignore` in .gitmodules, which wins over settings.
_FORM = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--stat", "--patch")


class GitDiff(Frozen):
    """Show the difference between a commit and the files now."""

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
