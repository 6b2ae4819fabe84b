"""A new repository out of a folder of files: for the demonstration."""

from pathlib import Path

from forge_bot.checkout.git import git
from forge_bot.checkout.repository import Repository


def make_repository(folder: Path, message: str) -> Repository:
    """Put everything in `folder` into the first commit of a new repository on the branch main."""
    git(folder, "init", "--quiet", "--initial-branch=main", "--template=", ".")
    git(folder, "add", "--all")
    git(
        folder,
        "-c",
        "user.name=forge-bot",
        "-c",
        "user.email=forge-bot@users.noreply.github.com",
        "commit",
        "--quiet",
        "-m",
        message,
    )
    return Repository.find(folder)
