"""Resolves names: branches become full refs, revisions become object ids, HEAD its branch and
commit; lists the refs of a repository at one moment. And git's own files beside them: locks of
killed git processes are removed, those of living ones are waited for; folders are hidden from
`git status`.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from forge_bot.errors import BadOption, DetachedHead, GitFailed, NoCommits
from forge_bot.git.process import git

HEADS = "refs/heads/"
_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def branch_ref(folder: Path, name: str) -> str:
    """Return the full ref of a branch name. Raises BadOption for a name that git refuses
    (git-check-ref-format(1)); `HEAD` and a leading dash are refused, as `git branch` does.
    """
    if name == "HEAD" or name.startswith("-") or not is_ref(folder, HEADS + name):
        raise BadOption(
            f"{name!r} cannot be the name of a branch.",
            hint="Use letters, digits, `-`, `_`, `.` and `/`.",
        )
    return HEADS + name


@lru_cache(maxsize=256)
def is_ref(folder: Path, ref: str) -> bool:
    """Return whether the full ref (it begins with refs/) is well formed; nothing but its letters
    decides that.
    """
    return "\0" not in ref and git(folder, "check-ref-format", ref, ok=(0, 1)).code == 0


def ref_target(folder: Path, ref: str) -> str | None:
    """Object id at a full ref, which has to be well formed; None when there is no such ref."""
    answer = git(folder, "show-ref", "--verify", "--hash", "--", ref, ok=(0, 1, 128))
    return answer.line if answer.code == 0 else None


def commit_id(folder: Path, revision: str) -> str:
    """Id of the commit that a branch, tag, id or expression names. Raises GitFailed if none."""
    return _object_id(folder, revision, "commit")


def tree_id(folder: Path, revision: str) -> str:
    """Id of the folder tree behind a revision. Raises GitFailed when it names none."""
    return _object_id(folder, revision, "tree")


def is_ancestor(folder: Path, older: str, newer: str) -> bool:
    """Return whether a commit is another one or one of its ancestors, both by their full ids; False
    if one of them is missing.
    """
    return git(folder, "merge-base", "--is-ancestor", older, newer, ok=(0, 1, 128)).code == 0


def is_full_id(text: str) -> bool:
    """Return whether this is written like the whole id of an object."""
    return _FULL_ID.fullmatch(text) is not None


def _object_id(folder: Path, revision: str, kind: str) -> str:
    """Return the object of a revision. A full id never changes, so git is asked for it once."""
    return (_known if is_full_id(revision) else _resolved)(folder, revision, kind)


def _resolved(folder: Path, revision: str, kind: str) -> str:
    options = ("--verify", "--quiet", "--end-of-options")
    answer = git(folder, "rev-parse", *options, f"{revision}^{{{kind}}}", ok=(0, 1, 128))
    if answer.code != 0:
        raise GitFailed(
            f"{revision!r} names no {kind} in {folder}.",
            hint=(
                "Check the name; a branch that exists only on the remote is called "
                "origin/NAME, after `git fetch`."
            ),
        )
    return answer.line


_known = lru_cache(maxsize=4_096)(_resolved)


# The files by which git itself knows it (wt-status.c, wt_status_get_state), in the order in which
# they decide.
_SIGNS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}


def under_way(folder: Path) -> tuple[str, str] | None:
    """Return the git command that is under way in this work tree, and the way to end it."""
    own = own_folders(folder)[0]
    name = next((name for sign, name in _SIGNS.items() if (own / sign).exists()), "")
    if name == "bisect":
        return name, "End it with `git bisect reset`."
    way_out = f"Finish it (git {name} --continue) or give it up (git {name} --abort)."
    return (name, way_out) if name else None


@dataclass(frozen=True, slots=True)
class Head:
    """A branch and the id of its newest commit."""

    branch: str
    commit: str


def head(folder: Path) -> Head:
    """The branch that is checked out in `folder`. Raises DetachedHead or NoCommits."""
    # The full ref, since the short form says `heads/x` when a tag is called x too.
    asked = git(folder, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD", ok=(0, 128))
    commit, _, ref = asked.line.partition("\n")
    if ref.startswith(HEADS):
        return Head(ref.removeprefix(HEADS), commit)
    ref = git(folder, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).line
    if not ref.startswith(HEADS):
        sentence = f"No branch is checked out in {folder}"
        if (operation := under_way(folder)) is None:
            raise DetachedHead(f"{sentence}.")
        name, way_out = operation
        raise DetachedHead(f"{sentence}: a {name} is under way.", hint=way_out)
    branch = ref.removeprefix(HEADS)
    raise NoCommits(f"The branch {branch} in {folder} has no commit yet.")


def last_known(folder: Path) -> str:
    """Return the commit that a work tree stood at last, though its branch is gone (its reflog)."""
    log = own_folders(folder)[0] / "logs" / "HEAD"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    return lines[-1].split(" ")[1] if lines else ""


def is_shallow(folder: Path) -> bool:
    """Return whether this clone lacks old commits (gitrepository-layout(5), shallow)."""
    file = own_folders(folder)[1] / "shallow"
    return file.is_file() and file.stat().st_size > 0


def named_folder(link: Path) -> Path:
    """Return git's folder that the file `.git` of a linked work tree or a submodule names."""
    return link.parent / os.fsdecode(link.read_bytes().removeprefix(b"gitdir:").strip())


def own_folders(folder: Path) -> tuple[Path, Path]:
    """Return git's folder of a work tree, and the one that all work trees share."""
    own = folder / ".git"
    if not own.is_dir():
        own = named_folder(own)
    shared = own / "commondir"
    common = own / os.fsdecode(shared.read_bytes().rstrip(b"\n")) if shared.is_file() else own
    return own, common


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


_PROC = Path("/proc")
_LOOK_SECONDS = 0.02
INDEX_LOCK = "index.lock"
"""Git holds it while it writes the index of a work tree."""


def has_locks(folder: Path) -> bool:
    """Return whether a lock file of a commit is there, be its git at work or killed."""
    return any(lock.exists() for lock in _locks(folder))


def unlock(folder: Path, *, seconds: float = 10.0) -> tuple[str, ...]:
    """Wait for git processes that still work in the tree, up to a time limit; then remove the locks
    of dead ones, and return their names. For a tree that only its run writes to.

    A killed process leaves the git that it started, which continues for a moment. A power loss
    leaves git's lock files, which stop every later git. If it is unknown whether a git works there
    (another user's, or a system without /proc), nothing is removed, and git's own message and hint
    say what to do.
    """
    until, here = time.monotonic() + seconds, folder.resolve()
    while here in (places := _places_of_git(here)) and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
    if places or not _PROC.is_dir():
        return ()
    locks = [lock for lock in _locks(folder) if lock.exists()]
    for lock in locks:
        lock.unlink(missing_ok=True)
    return tuple(lock.name for lock in locks)


def unlock_ref(folder: Path, ref: str) -> None:
    """Remove the lock that a killed git left on a ref. Nothing is removed while a git process is at
    work in the folder, or where that cannot be seen.
    """
    with suppress(OSError):
        lock = own_folders(folder)[1] / f"{ref}.lock"
        if lock.is_file() and _PROC.is_dir() and not _places_of_git(folder.resolve()):
            lock.unlink()


def hide(folder: Path, hidden: str) -> None:
    """Keep a folder of this clone's work trees out of `git status` and `git add`, without a file
    that could be committed (gitignore(5), $GIT_DIR/info/exclude).
    """
    file, line = own_folders(folder)[1] / "info" / "exclude", f"/{hidden}/"
    text = file.read_text(encoding="utf-8", errors="surrogateescape") if file.is_file() else ""
    if line not in text.splitlines():
        file.parent.mkdir(exist_ok=True)
        lines = f"{text.rstrip()}\n{line}\n".lstrip()
        file.write_text(lines, encoding="utf-8", errors="surrogateescape")


def _places_of_git(folder: Path) -> set[Path | None]:
    """Return `folder` if a git process runs in it or below; None if the folder of some git process
    is unknown.

    Processes that only read objects hold no lock and do not count.
    """
    places: set[Path | None] = set()
    for entry in _PROC.glob("[0-9]*"):
        try:
            if not (entry / "comm").read_text(encoding="utf-8", errors="replace").startswith("git"):
                continue
            if b"\0cat-file\0" in (entry / "cmdline").read_bytes():
                continue
            place = (entry / "cwd").readlink()
            if place == folder or folder in place.parents:
                places.add(folder)
        except PermissionError:
            places.add(None)
        except OSError:
            # It has ended meanwhile.
            continue
    return places


def _locks(folder: Path) -> Iterator[Path]:
    """The lock files that a commit takes (git-commit(1): index, HEAD, the branch), its index for
    named files, and those of a git that checks files out or notes where HEAD was (gitrevisions(7)).
    """
    try:
        own, common = own_folders(folder)
        ref = os.fsdecode((own / "HEAD").read_bytes()).rstrip("\n").removeprefix("ref: ")
    except OSError:
        # No git could work there either.
        return
    yield own / INDEX_LOCK
    yield own / "HEAD.lock"
    yield own / "ORIG_HEAD.lock"
    yield from own.glob("next-index-*.lock")
    if ref.startswith("refs/") and ".." not in ref:
        yield common / f"{ref}.lock"
