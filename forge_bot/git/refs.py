"""All refs of a repository at one moment."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from forge_bot.git.process import git
from forge_bot.git.revisions import HEADS

REMOTES = "refs/remotes/"
ENDED = "refs/forge-bot/runs/"
"""The refs with the records of ended runs."""

ENDED_AT_ORIGIN = "refs/forge-bot/runs-of-origin/"
"""The same refs of the remote, as the last fetch saw them."""

_FORM = "%(refname)%00%(objectname)%00%(symref)%00%(worktreepath)%00"


class Ref(NamedTuple):
    """A ref with its full name, its object, and the work tree that has it checked out."""

    name: str
    commit: str
    tree: Path | None


def list_refs(root: Path, *under: str) -> tuple[Ref, ...]:
    """Return the refs below some beginnings of names, without those that only name another one. No
    object is read.
    """
    # Each record ends with NUL and a line end; a path may hold line ends, and no NUL.
    parts = git(root, "for-each-ref", f"--format={_FORM}", *under).line.split("\0")
    rows = zip(parts[0::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
    return tuple(
        Ref(name.removeprefix("\n"), commit, Path(tree) if tree and Path(tree).is_dir() else None)
        for name, commit, link, tree in rows
        if not link
    )


def tips_since(root: Path, since: datetime, *under: str) -> tuple[str, ...]:
    """Return the commits of refs below some beginnings that were made since a moment, each once."""
    form = "--format=%(objectname) %(committerdate:unix)"
    rows = git(root, "for-each-ref", form, *under).line.splitlines()
    dated = (row.split(" ") for row in rows)
    newer = (tip for tip, *made in dated if made and int(made[0] or 0) >= since.timestamp())
    return tuple(dict.fromkeys(newer))


def branches(root: Path) -> tuple[str, ...]:
    """Return the names of the local branches, in git's order of refs."""
    return _names(root, HEADS)


def remote_branches(root: Path) -> tuple[str, ...]:
    """Return the names of origin's branches as of the last fetch, without its HEAD."""
    return _names(root, f"{REMOTES}origin/")


def _names(root: Path, start: str) -> tuple[str, ...]:
    return tuple(ref.name.removeprefix(start) for ref in list_refs(root, start))
