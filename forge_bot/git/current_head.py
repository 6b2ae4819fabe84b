"""Where a work tree stands: its branch and the commit on it."""

import os
from dataclasses import dataclass
from pathlib import Path

from forge_bot.errors import DetachedHead, NoCommits
from forge_bot.git.names import HEADS, is_full_id
from forge_bot.git.process import git
from forge_bot.git.unfinished_operation import under_way


@dataclass(frozen=True, slots=True)
class Head:
    """A branch and the id of its newest commit."""

    branch: str
    commit: str


def head(folder: Path) -> Head:
    """The branch that is checked out in `folder`. Raises DetachedHead or NoCommits."""
    found = _in_files(folder)
    return found if found is not None else _asked(folder)


def _in_files(folder: Path) -> Head | None:
    """What git's own files say where they say it plainly (gitrepository-layout(5): HEAD, refs, commondir, .git as a file).

    Nothing is asked as often, and a process for it costs a hundred times as much. None for whatever is not plain: no commit, no
    branch, a packed ref, another store of refs, a folder inside the tree.
    """
    try:
        own = folder / ".git"
        if not own.is_dir():
            own = folder / os.fsdecode(own.read_bytes().removeprefix(b"gitdir:").strip())
        kind, _, ref = os.fsdecode((own / "HEAD").read_bytes()).rstrip("\n").partition(" ")
        if kind != "ref:" or not ref.startswith(HEADS) or ".." in ref:
            return None
        shared = own / "commondir"
        common = own / os.fsdecode(shared.read_bytes().rstrip(b"\n")) if shared.is_file() else own
        commit = os.fsdecode((common / ref).read_bytes()).rstrip("\n")
    except OSError:
        return None
    return Head(ref.removeprefix(HEADS), commit) if is_full_id(commit) else None


def _asked(folder: Path) -> Head:
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
