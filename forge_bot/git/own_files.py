"""Git's own files: locks of killed git processes are removed, those of living ones are waited for;
folders are hidden from `git status`.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from forge_bot.git.revisions import own_folders

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


def unlock_ref(folder: Path, ref: str) -> bool:
    """Remove the lock that a killed git left on a ref. Return whether there was one.

    Nothing is removed while a git process is at work in the folder, or where that cannot be seen.
    """
    try:
        lock = own_folders(folder)[1] / f"{ref}.lock"
    except OSError:
        return False
    if not lock.is_file() or not _PROC.is_dir() or _places_of_git(folder.resolve()):
        return False
    lock.unlink(missing_ok=True)
    return True


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
