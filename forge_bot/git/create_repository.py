"""A new repository out of a folder of files, for the demonstration, or out of one that lies elsewhere."""

from pathlib import Path

from forge_bot.git.process import LONG, git
from forge_bot.git.repository import Repository


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


def clone_repository(address: str, folder: Path) -> Repository:
    """A copy with all branches and their history, and no files checked out. One that lies there already is only brought up to date.

    Credentials are git's matter, and are not written into it.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        git(folder.parent, "clone", "--quiet", "--no-checkout", "--no-tags", "--template=", "--", address, str(folder), seconds=LONG)
        return Repository.find(folder)
    repository = Repository.find(folder)
    repository.fetch()
    return repository
