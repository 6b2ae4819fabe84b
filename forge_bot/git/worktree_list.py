"""The work trees of a repository, as it has registered them."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from forge_bot.git.own_files import content, entries
from forge_bot.git.process import git
from forge_bot.git.revisions import HEADS, own_folders

_Registered = tuple[tuple[tuple[str, bytes], ...], tuple[bool, ...]]
_listings: dict[Path, tuple[_Registered | None, str]] = {}
"""Git's lists of work trees, each with the files that it was made from."""

# Without -z, which git knows only since 2.36. A path may hold line ends, so the line after it
# decides where it stops.
_ENTRY = re.compile(
    r"^worktree (?P<path>.+?)\n(?=HEAD [0-9a-f]{40,64}$|bare$)(?P<rest>(?:[^\n]+\n)*)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class WorktreeInfo:
    """A registered work tree. `branch` is None when it is detached or bare; prunable ones have lost
    their folder.
    """

    path: Path
    branch: str | None
    locked: bool
    prunable: bool
    lock_reason: str = ""


def listed(root: Path) -> tuple[WorktreeInfo, ...]:
    """All registered work trees, the main one first (git-worktree(1), "Porcelain Format")."""
    seen = _registered(root)
    known = _listings.get(root)
    if known is None or seen is None or known[0] != seen:
        known = (seen, git(root, "worktree", "list", "--porcelain").line + "\n")
        _listings[root] = known
    return tuple(_info(Path(match["path"]), match["rest"]) for match in _ENTRY.finditer(known[1]))


def _registered(root: Path) -> _Registered | None:
    """Return what git makes its list from (gitrepository-layout(5), worktrees); None where refs are
    kept in another way than in files.
    """
    try:
        own, common = own_folders(root)
        places = [str(own), str(common), *_registrations(common)]
        files = [f"{place}/{name}" for place in places for name in ("HEAD", "gitdir", "locked")]
        found = tuple((file, data) for file in files if (data := content(file)) is not None)
        links = [data.strip() for name, data in found if name.endswith("gitdir")]
        here = tuple(os.path.lexists(link) for link in links)
    except OSError:
        return None
    return (found, here) if (common / HEADS).is_dir() else None


def _registrations(common: Path) -> list[str]:
    """Return git's own folder of each work tree but the main one, as plain text: there may be a
    thousand, and each is looked at.
    """
    try:
        return sorted(f"{common}/worktrees/{each.name}" for each in entries(f"{common}/worktrees"))
    except FileNotFoundError:
        return []


def folders(root: Path) -> tuple[str, ...]:
    """Return the folders of all registered work trees, the main one first, whether they are there
    or not: all that can be said of them without a process.
    """
    common = own_folders(root)[1].resolve()
    links = (content(f"{place}/gitdir") for place in _registrations(common))
    others = (os.fsdecode(link.strip()).removesuffix("/.git") for link in links if link)
    return (str(common).removesuffix("/.git"), *others)


def is_checked_out(root: Path, branch: str) -> bool:
    """Return whether a registered work tree has this branch checked out, be its folder there or
    not.
    """
    return is_some_head(root, branch) and any(info.branch == branch for info in listed(root))


def is_some_head(root: Path, branch: str) -> bool:
    """Return whether a work tree may have this branch checked out; False where none names it."""
    try:
        common = own_folders(root)[1]
        heads = [f"{place}/HEAD" for place in (common, *_registrations(common))]
        wanted = os.fsencode(f"ref: {HEADS}{branch}")
        known = (common / HEADS).is_dir()
        return not known or any((content(head) or b"").strip() == wanted for head in heads)
    except OSError:
        return True


def _info(path: Path, rest: str) -> WorktreeInfo:
    facts = {key: value for key, _, value in (line.partition(" ") for line in rest.splitlines())}
    ref = facts.get("branch", "")
    return WorktreeInfo(
        path=path,
        branch=ref.removeprefix(HEADS) if ref.startswith(HEADS) else None,
        locked="locked" in facts,
        prunable="prunable" in facts or ("locked" not in facts and not path.exists()),
        lock_reason=facts.get("locked", ""),
    )
