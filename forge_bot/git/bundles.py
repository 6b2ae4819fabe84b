"""Commits carried from one machine to another in a file (git-bundle(1)), and a branch moved to them only after somebody has looked."""

from pathlib import Path

from forge_bot.git.current_head import head
from forge_bot.git.names import HEADS, commit_id
from forge_bot.git.process import LONG, git

_CARRIED = "refs/forge-bot/carried"


def make_bundle(root: Path, file: Path, base: str, tip: str) -> None:
    """Write the commits between two into a file. Raises GitFailed, also where there are none."""
    git(root, "update-ref", _CARRIED, commit_id(root, tip))
    git(root, "bundle", "create", "--quiet", str(file.absolute()), f"^{commit_id(root, base)}", _CARRIED, seconds=LONG)


def open_bundle(root: Path, file: Path) -> str:
    """Take the commits of a file in, every object checked, and no branch moved; the newest. Raises GitFailed for what is no such file."""
    options = ("-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    git(root, *options, "--", str(file.absolute()), f"+{_CARRIED}:{_CARRIED}", seconds=LONG)
    return commit_id(root, _CARRIED)


def name_branch(tree: Path, commit: str, before: str) -> None:
    """Let the checked out branch name another commit, its files untouched. Raises GitFailed if it does not name `before` now."""
    git(tree, "update-ref", HEADS + head(tree).branch, commit, before)


def show_branch(tree: Path) -> None:
    """Bring the files of a clean work tree to where its branch is."""
    git(tree, "reset", "--quiet", "--hard", seconds=LONG)
