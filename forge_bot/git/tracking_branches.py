"""Branches of remotes as the last fetch saw them, and a local branch made from one."""

from dataclasses import dataclass
from pathlib import Path

from forge_bot.git.names import branch_ref
from forge_bot.git.process import git

REMOTES = "refs/remotes/"


@dataclass(frozen=True, slots=True)
class Tracking:
    """A branch of a remote; `ref` is the full name under which this repository keeps it."""

    remote: str
    branch: str

    @property
    def ref(self) -> str:
        """The remote-tracking branch."""
        return f"{REMOTES}{self.remote}/{self.branch}"


def listed(folder: Path, most: int) -> tuple[Tracking, ...]:
    """Branches of all remotes, newest commit first, at most so many; the remotes' HEADs are none."""
    remotes = sorted(git(folder, "remote").line.split("\n"), key=len, reverse=True)
    form = "--format=%(symref)%00%(refname)"
    lines = git(folder, "for-each-ref", form, "--sort=-committerdate", f"--count={most}", REMOTES).line.split("\n")
    refs = [ref.removeprefix(REMOTES) for symref, _, ref in (line.partition("\0") for line in lines) if ref and not symref]
    # The name of a remote may have slashes too; the longest that fits is meant.
    owned = ((next((name for name in remotes if name and ref.startswith(f"{name}/")), ""), ref) for ref in refs)
    return tuple(Tracking(remote, ref.removeprefix(f"{remote}/")) for remote, ref in owned if remote)


def take(folder: Path, found: Tracking) -> None:
    """Make the local branch of the same name, which follows the remote's. Raises GitFailed when there is one already."""
    branch_ref(folder, found.branch)
    git(folder, "branch", "--quiet", "--track", found.branch, found.ref)
