"""A pull request, opened with GitHub's own command line."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import GhFailed
from forge_bot.git import Repository
from forge_bot.github_api import parse_remote
from forge_bot.interaction.pull_request import PullRequestText

_SECONDS = 120
_ADDRESS = re.compile(r"https?://\S+/pull/\d+")
_EXISTS = "already exists"


@dataclass(frozen=True)
class WantedPullRequest:
    """A pull request to open: its branches, its text, the file with its body, and the repository
    that takes it, if that is not the one that is pushed to.
    """

    head: str
    base: str
    text: PullRequestText
    body: Path
    repository: str = ""


OpenPullRequest = Callable[[WantedPullRequest], str]
"""Opens a pull request, or brings the text of the open one up to date; gives its address."""


def opener(root: Path) -> OpenPullRequest:
    """Return how pull requests of a repository are opened. Raises GhFailed where gh is missing."""
    if shutil.which("gh") is None:
        raise GhFailed(
            "--open-pr needs GitHub's command line gh, which is not installed.",
            hint="Install it from https://cli.github.com, or leave --open-pr away and use --push.",
        )
    return lambda wanted: _opened(root, wanted)


def offered_head(repository: Repository, branch: str) -> tuple[str, str]:
    """Return how a pull request names a branch, and the repository that takes it: with the owner,
    and `upstream`'s, where `origin` is a fork; else the branch alone, and nothing.
    """
    ours, theirs = (
        parse_remote(repository.remote_url(name), os.environ) for name in ("origin", "upstream")
    )
    if ours is None or theirs is None or ours.name.lower() == theirs.name.lower():
        return branch, ""
    return f"{ours.name.partition('/')[0]}:{branch}", theirs.name


def creation(wanted: WantedPullRequest) -> tuple[str, ...]:
    """Return the command that opens a pull request."""
    draft = ("--draft",) if wanted.text.draft else ()
    where = ("--base", wanted.base, "--head", wanted.head)
    text = ("--title", wanted.text.title, "--body-file", str(wanted.body))
    return ("gh", "pr", "create", *_elsewhere(wanted), *where, *draft, *text)


def _elsewhere(wanted: WantedPullRequest) -> tuple[str, ...]:
    return ("--repo", wanted.repository) if wanted.repository else ()


def _opened(root: Path, wanted: WantedPullRequest) -> str:
    done = _gh(root, creation(wanted))
    said = f"{done.stdout}\n{done.stderr}"
    if done.returncode != 0:
        if _EXISTS not in said:
            raise GhFailed(f"gh could not open the pull request: {_words(said)}")
        text = ("--title", wanted.text.title, "--body-file", str(wanted.body))
        changed = _gh(root, ("gh", "pr", "edit", wanted.head, *_elsewhere(wanted), *text))
        if changed.returncode != 0:
            raise GhFailed(f"gh could not change the pull request: {_words(changed.stderr)}")
    found = _ADDRESS.search(said)
    return found[0] if found else ""


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
    except subprocess.TimeoutExpired as error:
        raise GhFailed(f"gh gave no answer within {_SECONDS} seconds.") from error
    except OSError as error:
        raise GhFailed(f"gh could not be started: {error.strerror or error}.") from error


def _words(said: str) -> str:
    return " ".join(said.split())[:1000]
