"""The work trees of a repository, as it has registered them."""

import re
from dataclasses import dataclass
from pathlib import Path

from forge_bot.git.process import git
from forge_bot.git.revisions import HEADS

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
    text = git(root, "worktree", "list", "--porcelain").line + "\n"
    return tuple(_info(Path(match["path"]), match["rest"]) for match in _ENTRY.finditer(text))


def is_checked_out(root: Path, branch: str) -> bool:
    """Return whether a registered work tree has this branch checked out, be its folder there or
    not.
    """
    return any(info.branch == branch for info in listed(root))


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
