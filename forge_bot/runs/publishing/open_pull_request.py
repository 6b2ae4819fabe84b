"""A pull request, opened with GitHub's own command line."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import GhFailed, GitHubError, GitHubUnavailable, RateLimited
from forge_bot.git import Repository
from forge_bot.interaction.pull_request import PullRequestText

_SECONDS = 120
_ADDRESS = re.compile(r"https?://\S+/pull/\d+")
_EXISTS = "already exists"
_LIMITED = re.compile("rate limit|abuse detection", re.IGNORECASE)
_UNREACHED = re.compile(r"error connecting to|\bHTTP 5\d\d\b", re.IGNORECASE)


@dataclass(frozen=True)
class WantedPullRequest:
    """A pull request to open: its branches, its text, and the file with its body. `repository` is
    the target if it is not the repository that gets the push.
    """

    head: str
    base: str
    text: PullRequestText
    body: Path
    repository: str = ""


OpenPullRequest = Callable[[WantedPullRequest], str]
"""Opens a pull request, or brings the text of the open one up to date; gives its address."""


def opener(root: Path) -> OpenPullRequest:
    """Return the function that opens a repository's pull requests. Raises GhFailed without gh."""
    if shutil.which("gh") is None:
        raise GhFailed(
            "--open-pr needs GitHub's command line gh, which is not installed.",
            hint="Install it from https://cli.github.com, or leave --open-pr out and use --push.",
        )
    return lambda wanted: _opened(root, wanted)


def offered_head(repository: Repository, branch: str) -> tuple[str, str]:
    """Return how a pull request names a branch, and the repository that takes it: with the owner,
    and `upstream`'s, where `origin` is a fork; else the branch alone, and nothing.
    """
    urls = [repository.remote_url(name) for name in ("origin", "upstream")]
    if not all(urls):
        return branch, ""
    # Few clones have both, and nobody else needs to read what talks to GitHub.
    from forge_bot.github_api.issue import parse_remote

    ours, theirs = (parse_remote(url, os.environ) for url in urls)
    if ours is None or theirs is None or ours.name.lower() == theirs.name.lower():
        return branch, ""
    return f"{ours.name.partition('/')[0]}:{branch}", theirs.name


def creation(wanted: WantedPullRequest, *, whole: bool = False) -> tuple[str, ...]:
    """Return the command that opens a pull request; `whole` if it has the text in it."""
    draft = ("--draft",) if wanted.text.draft else ()
    where = ("--head", wanted.head, "--base", wanted.base)
    text = _text(wanted, whole=whole)
    return ("gh", "pr", "create", *where, *_elsewhere(wanted), *draft, *text)


def correction(wanted: WantedPullRequest, place: str, *, whole: bool = False) -> tuple[str, ...]:
    """Return the command that gives the pull request at a place its present text."""
    return ("gh", "pr", "edit", place, *_elsewhere(wanted), *_text(wanted, whole=whole))


def _text(wanted: WantedPullRequest, *, whole: bool) -> tuple[str, ...]:
    body = ("--body", wanted.text.body) if whole else ("--body-file", str(wanted.body))
    return ("--title", wanted.text.title, *body)


def _elsewhere(wanted: WantedPullRequest) -> tuple[str, ...]:
    return ("--repo", wanted.repository) if wanted.repository else ()


def _opened(root: Path, wanted: WantedPullRequest) -> str:
    done = _gh(root, creation(wanted))
    output = f"{done.stdout}\n{done.stderr}"
    if done.returncode != 0:
        if _EXISTS not in output:
            raise _failed("open", output)
        changed = _gh(root, correction(wanted, wanted.head))
        if changed.returncode != 0:
            raise _failed("change", changed.stderr)
        if not wanted.text.draft:
            _gh(root, ("gh", "pr", "ready", wanted.head, *_elsewhere(wanted)))
    address = _ADDRESS.search(output)
    return address[0] if address else ""


def _failed(what: str, output: str) -> GitHubError:
    """Return the error for what gh printed."""
    message = f"gh could not {what} the pull request: {' '.join(output.split())[:1000]}"
    if _LIMITED.search(output):
        return RateLimited(message)
    return GitHubUnavailable(message) if _UNREACHED.search(output) else GhFailed(message)


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
