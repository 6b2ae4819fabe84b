"""GitHub's own command line `gh`, for what a person's login does: commands, and pull requests that
are opened by it.
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from forge_bot.errors import GhFailed
from forge_bot.forge.github.names import PULL_PAGE
from forge_bot.forge.types import NewPullRequest

_SECONDS = 120
_ADDRESS = re.compile(rf"{PULL_PAGE}\d+")
_EXISTS = "already exists"

OpenPullRequest = Callable[[NewPullRequest], str]
"""Opens a pull request, or brings the text of the open one up to date; gives its address."""


def pull_request_opener(root: Path) -> OpenPullRequest:
    """Return the function that opens a repository's pull requests. Raises GhFailed without gh."""
    if shutil.which("gh") is None:
        raise GhFailed(
            "--open-pr needs GitHub's command line gh, which is not installed.",
            hint="Install it from https://cli.github.com, or leave --open-pr out and use --push.",
        )
    return lambda wanted: _opened(root, wanted)


def pull_request_command(
    wanted: NewPullRequest, place: str = "", *, whole: bool = False
) -> tuple[str, ...]:
    """Return the command that opens a pull request, or gives the one at a place its present text;
    `whole` if it has the text in it.
    """
    body = ("--body", wanted.body) if whole else ("--body-file", wanted.body_file)
    where = () if place else ("--head", wanted.head, "--base", wanted.base)
    draft = ("--draft",) if wanted.draft and not place else ()
    text = ("--title", wanted.title, *body)
    verb = ("edit", place) if place else ("create",)
    return ("gh", "pr", *verb, *where, *_elsewhere(wanted), *draft, *text)


def _elsewhere(wanted: NewPullRequest) -> tuple[str, ...]:
    return ("--repo", wanted.repository) if wanted.repository else ()


def _opened(root: Path, wanted: NewPullRequest) -> str:
    done = _gh(root, pull_request_command(wanted))
    output = f"{done.stdout}\n{done.stderr}"
    if done.returncode != 0:
        if _EXISTS not in output:
            raise _failed("open", output)
        changed = _gh(root, pull_request_command(wanted, wanted.head))
        if changed.returncode != 0:
            raise _failed("change", changed.stderr)
        if not wanted.draft:
            _gh(root, ("gh", "pr", "ready", wanted.head, *_elsewhere(wanted)))
    address = _ADDRESS.search(output)
    return address[0] if address else ""


def _failed(what: str, output: str) -> GhFailed:
    words = " ".join(output.split())[:1000]
    return GhFailed(f"gh could not {what} the pull request: {words}")


def _gh(root: Path, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words,
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GhFailed(f"gh gave no answer: {error}.") from error


def read_issue_command(url: str) -> tuple[str, ...]:
    """Return the command that reads an issue."""
    return ("gh", "issue", "view", url, "--json", "labels,title,body")


def comment_command(url: str, text: str) -> tuple[str, ...]:
    """Return the command that comments on an issue."""
    return ("gh", "issue", "comment", url, "--body", text)
