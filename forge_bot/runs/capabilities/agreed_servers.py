"""The yes of this user to the servers of a repository, kept beside their other files.

It is kept for the folder of the repository, so that another clone needs its own, and never in the
repository, which could bring it along.
"""

import hashlib
from pathlib import Path

from forge_bot.settings import state_home
from forge_bot.store import write_whole


def agreed_digests(root: Path) -> frozenset[str]:
    """Return the digests of servers that this user said yes to in a repository."""
    try:
        return frozenset(_file(root).read_text(encoding="utf-8").split())
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def agree(root: Path, digest: str) -> None:
    """Keep a yes to the servers of a repository."""
    digests = sorted(agreed_digests(root) | {digest})
    write_whole(_file(root), "".join(f"{each}\n" for each in digests))


def _file(root: Path) -> Path:
    mark = hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return state_home() / "agreed-servers" / f"{root.resolve().name}-{mark}"
