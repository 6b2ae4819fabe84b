"""Where a work tree stands: its branch and the commit on it."""

from dataclasses import dataclass
from pathlib import Path

from forge_bot.checkout.git import git
from forge_bot.checkout.naming import HEADS
from forge_bot.checkout.operations import under_way
from forge_bot.errors import DetachedHead, NoCommits


@dataclass(frozen=True, slots=True)
class Head:
    """A branch and the id of its newest commit."""

    branch: str
    commit: str


def head(folder: Path) -> Head:
    """The branch that is checked out in `folder`. Raises DetachedHead or NoCommits."""
    # The full ref, since the short form says `heads/x` when a tag is called x too. One call for both where there is a commit.
    match git(folder, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD", ok=(0, 128)).line.split("\n"):
        case [commit, ref] if ref.startswith(HEADS):
            return Head(ref.removeprefix(HEADS), commit)
        case _:
            pass
    ref = git(folder, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).line
    if not ref.startswith(HEADS):
        raise _detached(folder)
    branch = ref.removeprefix(HEADS)
    raise NoCommits(f"The branch {branch} in {folder} has no commit yet.")


def _detached(folder: Path) -> DetachedHead:
    operation = under_way(folder)
    if operation is None:
        return DetachedHead(f"No branch is checked out in {folder}.")
    # A rebase or bisect stands between commits: changing the branch would not be the way out of it.
    return DetachedHead(f"No branch is checked out in {folder}: a {operation.name} is under way.", hint=operation.way_out)
